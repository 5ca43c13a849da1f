// Light or dark: the system decides until the switch is used; the choice stays in this browser only.
// A classic script in the head, so that a page never flashes in the wrong theme.
(() => {
  const KEY = "theme";
  const root = document.documentElement;
  root.dataset.script = "on";  // what needs scripts is hidden without them
  const stored = () => {
    try { return localStorage.getItem(KEY); } catch { return null; }  // storage may be switched off
  };
  const choice = stored();
  if (choice === "light" || choice === "dark") root.dataset.theme = choice;

  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

  const announce = () => document.dispatchEvent(new CustomEvent("themechange"));

  const label = () => {
    const button = document.getElementById("theme-switch");
    if (button) button.setAttribute("aria-label", isDark() ? "Switch to light" : "Switch to dark");
  };

  document.addEventListener("click", (event) => {
    if (!event.target.closest("#theme-switch")) return;
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem(KEY, root.dataset.theme); } catch { /* lasts for this page then */ }
    label();
    announce();
  });
  document.addEventListener("DOMContentLoaded", label);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { label(); announce(); });
})();
