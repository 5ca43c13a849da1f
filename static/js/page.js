// Small behaviours of every page: menus, copied links, forms that send themselves, print.
import "./why.js";

const root = document.documentElement;

// a menu closes when the next click lands elsewhere, and on Esc with the focus back on its button
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// a select or a filter applies when it changes; without scripts its button does
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-send-on-change]");
  if (form) form.requestSubmit();
});
for (const button of document.querySelectorAll("[data-only-without-scripts]")) button.hidden = true;

export function toast(text) {
  document.querySelector(".toast")?.remove();
  const box = document.createElement("div");
  box.className = "toast";
  box.setAttribute("role", "status");
  box.textContent = text;
  document.body.append(box);
  setTimeout(() => box.remove(), 4000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;  // no clipboard outside https and localhost, or not allowed
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-link]");
  if (!button) return;
  event.preventDefault();
  const link = new URL(button.dataset.copyLink || location.href, location.href);
  button.closest("details.menu")?.removeAttribute("open");
  toast(await copy(link.href) ? "Link copied" : link.href);
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-table]");
  if (!button) return;
  const rows = document.getElementById(button.dataset.copyTable).querySelectorAll("tr");
  const cell = (node) => node.innerText.replace(/\s+/g, " ").trim();
  const text = [...rows].map((row) => [...row.cells].map(cell).join("\t")).join("\n");
  toast(await copy(text) ? `${rows.length} rows copied` : "The browser did not allow copying");
});

// opens after the charts are drawn: they do not refit by themselves when the browser switches to paper
if (root.dataset.view === "print") {
  addEventListener("load", () => setTimeout(() => window.print(), 700));
}
