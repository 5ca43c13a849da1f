// Draws the figures that the server made. Colours come as var(--token) and are put in for the theme of the moment.
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false, showTips: false };
const NARROW_PX = 440;
const figures = new Map();  // element id -> figure as the server made it

function colours() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const known = new Map();
  const look = (name) => {
    if (!known.has(name)) {
      probe.style.color = name;  // light-dark() is only settled where a colour is used
      known.set(name, getComputedStyle(probe).color);
    }
    return known.get(name);
  };
  const settle = (value) => {
    if (typeof value === "string") return value.startsWith("var(--") ? look(value) : value;
    if (Array.isArray(value)) return value.map(settle);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, settle(each)]));
    }
    return value;
  };
  return { settle, done: () => probe.remove() };
}

// On a narrow screen: fewer ticks, one mark, and its text on two lines.
function fitted(layout, element) {
  if (element.clientWidth >= NARROW_PX || !layout.annotations) return layout;
  const shorter = (each) => each.name === "mark"
    ? { ...each, ax: each.xanchor === "right" ? -18 : 18, text: each.text.replace(" from ", "<br>from "), align: "left" }
    : each;
  const { dtick } = layout.xaxis;
  const ticks = typeof dtick === "number" ? { dtick: 2 * dtick } : { nticks: 4 };
  return {
    ...layout,
    annotations: layout.annotations.filter((each) => each.name !== "mark-wide").map(shorter),
    xaxis: { ...layout.xaxis, ...ticks },
  };
}

function drawWith(settle, element, figure) {
  if (!window.Plotly) return;
  if (!element.dataset.drawn) element.replaceChildren();
  element.dataset.drawn = "yes";
  const layout = settle(fitted(figure.layout, element));
  window.Plotly.react(element, settle(figure.data), layout, CONFIG);
  if (figure.layout.meta?.opens && !element.dataset.opens) openOnPress(element);
}

// A press on a point opens the address that stands second in its customdata.
function openOnPress(element) {
  element.dataset.opens = "yes";
  element.on("plotly_click", ({ points }) => {
    const href = points.map((point) => point.customdata?.[1]).find((each) => each?.startsWith("/"));
    if (href) location.assign(href);
  });
}

/** Draw or redraw one chart by its name, "cost", from a figure of the server. */
export function drawAll(named) {
  const { settle, done } = colours();
  for (const [name, figure] of Object.entries(named)) {
    const element = document.getElementById(`chart-${name}`);
    if (!element) continue;
    figures.set(element.id, figure);
    drawWith(settle, element, figure);
  }
  done();
}

// htmx takes every script element out of what it swaps in, figures too: they are read before it does
const arrived = new Map();
document.addEventListener("htmx:beforeSwap", (event) => {
  const part = new DOMParser().parseFromString(event.detail.serverResponse ?? "", "text/html");
  for (const block of part.querySelectorAll("script[id^=figure-]")) arrived.set(block.id, block.textContent);
});

/** Draw every chart under a node from the JSON block beside it. */
export function drawUnder(root) {
  const named = {};
  for (const element of root.querySelectorAll("[data-chart]")) {
    const name = element.id.replace(/^chart-/, "");
    const text = document.getElementById(`figure-${name}`)?.textContent ?? arrived.get(`figure-${name}`);
    if (text) named[name] = JSON.parse(text);
  }
  drawAll(named);
}

document.addEventListener("themechange", () => {
  const { settle, done } = colours();
  for (const [id, figure] of figures) {
    const element = document.getElementById(id);
    if (element) drawWith(settle, element, figure);
  }
  done();
});

drawUnder(document);
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt !== document.body) drawUnder(event.detail.elt);
});
