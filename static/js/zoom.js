// Dragging over one panel of a group zooms all of them to the same days; Esc shows the whole window again.
// Fingers scroll the page instead.
const coarse = matchMedia("(pointer: coarse)");
const panels = () => [...document.querySelectorAll("[data-zoom-together] [data-chart]")].filter((each) => each.on);
let isFollowing = false;  // the other panels move because one was dragged

async function show(range, but) {
  isFollowing = true;
  const change = { "xaxis.range": range, "xaxis.autorange": false };
  await Promise.all(panels().filter((each) => each !== but).map((each) => window.Plotly.relayout(each, change)));
  isFollowing = false;
}

function watch() {
  for (const panel of panels()) {
    if (panel.dataset.zooms) continue;
    panel.dataset.zooms = "yes";
    panel.whole = [...panel.layout.xaxis.range];
    if (coarse.matches) window.Plotly.relayout(panel, { dragmode: false });
    panel.on("plotly_relayout", (change) => {
      const range = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      if (!isFollowing && range[0] !== undefined) show(range, panel);
    });
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector(":popover-open, details.menu[open]")) return;
  const [first] = panels();
  if (first?.whole && String(first.layout.xaxis.range) !== String(first.whole)) show(first.whole);
});
document.addEventListener("htmx:load", watch);
watch();
