// What if: a moved slider asks the server and shows its answer. At most one request is on its way and the
// latest values win. While dragging, the sentence, the cards and the main chart follow; the rest when it rests.
import { drawAll } from "./charts.js";

const form = document.getElementById("what-if");
const REST_MS = 220;
const history = [];  // values before each change, newest last
let restTimer = 0;
let waiting = null;  // "live" or "rest": what to ask once the request on its way is back
let isAsking = false;

const sliders = [...form.querySelectorAll("[data-slider]")].map((box) => ({
  key: box.dataset.slider,
  box,
  range: box.querySelector("input[type=range]"),
  number: box.querySelector("input[type=number]"),
  hint: box.querySelector(".slider-hint"),
  unit: box.dataset.unit,
  decimals: Number(box.dataset.decimals),
  step: Number(box.dataset.step),
  minimum: Number(box.dataset.minimum),
  maximum: Number(box.dataset.maximum),
  value: Number(box.dataset.value),
  isSet: "changed" in box.dataset,  // stands in the address
}));
const byKey = new Map(sliders.map((slider) => [slider.key, slider]));
// two ways to say the same thing: the one moved last counts
const RIVALS = { util: "demand", demand: "util" };

function show(slider) {
  const text = slider.value.toFixed(slider.decimals);
  slider.range.value = slider.value;
  slider.range.setAttribute("aria-valuetext", `${text} ${slider.unit}`);
  if (document.activeElement !== slider.number) slider.number.value = text;
  slider.box.classList.toggle("changed", slider.isSet);
}

const snapshot = () => sliders.map(({ key, value, isSet }) => ({ key, value, isSet }));

function restore(saved) {
  for (const { key, value, isSet } of saved) Object.assign(byKey.get(key), { value, isSet });
}

function remember() {
  history.push(snapshot());
  document.getElementById("undo").disabled = false;
}

function set(slider, value) {
  const bounded = Math.min(slider.maximum, Math.max(slider.minimum, value));
  slider.value = Number(bounded.toFixed(slider.decimals + 4));
  slider.isSet = true;
  const rival = byKey.get(RIVALS[slider.key]);
  if (rival) rival.isSet = false;
  show(slider);
}

function query() {
  const pairs = new URLSearchParams();
  for (const field of form.querySelectorAll("input[type=hidden]")) pairs.append(field.name, field.value);
  for (const slider of sliders) if (slider.isSet) pairs.append(slider.key, String(slider.value));
  return pairs;
}

async function ask(kind) {
  form.dataset.state = "moving";
  if (isAsking) {
    if (waiting !== "rest" || kind === "rest") waiting = kind;
    return;
  }
  isAsking = true;
  waiting = null;
  const pairs = query();
  const address = `${form.action}?${pairs}`;
  if (kind === "live") pairs.append("live", "1");
  try {
    const response = await fetch(`${form.dataset.preview}?${pairs}`, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(String(response.status));
    take(await response.json(), kind);
    window.history.replaceState(null, "", address);
  } catch {
    document.getElementById("changed").textContent =
      "The server did not answer: the figures are those from before. Move a slider to try again.";
  }
  isAsking = false;
  if (waiting) ask(waiting);
  else if (kind === "rest") form.dataset.state = "rest";
}

function take(answer, kind) {
  for (const [name, html] of Object.entries(answer.parts)) {
    const part = document.getElementById(`part-${name}`);
    if (part) part.innerHTML = html;
  }
  drawAll(answer.figures);
  document.getElementById("changed").textContent = answer.changed;
  for (const [key, { value, is_changed: isChanged, hint }] of Object.entries(answer.sliders)) {
    const slider = byKey.get(key);
    if (!slider) continue;
    slider.box.classList.toggle("changed", isChanged);
    // a slider that follows another shows the value that the server worked out for it
    if (!slider.isSet && value !== null) {
      slider.value = value;
      show(slider);
    }
    if (kind === "rest" && hint) slider.hint.textContent = hint;
  }
  if (kind === "rest") {
    document.getElementById("answer-said").textContent = answer.said;
    for (const button of document.querySelectorAll("[data-only-without-scripts]")) button.hidden = true;
  }
}

function settle() {
  clearTimeout(restTimer);
  restTimer = setTimeout(() => ask("rest"), REST_MS);
}

let isDragging = false;
form.addEventListener("input", (event) => {
  const slider = byKey.get(event.target.closest("[data-slider]")?.dataset.slider);
  if (!slider || event.target !== slider.range) return;
  if (!isDragging) remember();
  isDragging = true;
  set(slider, Number(slider.range.value));
  ask("live");
  settle();
});

form.addEventListener("change", (event) => {
  const slider = byKey.get(event.target.closest("[data-slider]")?.dataset.slider);
  if (!slider) return;
  if (event.target === slider.range) {
    isDragging = false;
    return;
  }
  const value = event.target.value === "" ? NaN : Number(event.target.value);
  remember();
  if (Number.isFinite(value)) set(slider, value);
  slider.number.value = slider.value.toFixed(slider.decimals);
  settle();
});

form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  const slider = byKey.get(button.closest("[data-slider]").dataset.slider);
  remember();
  set(slider, slider.value + Number(button.dataset.move) * slider.step);
  ask("live");
  settle();
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  settle();
});

document.getElementById("undo").addEventListener("click", (event) => {
  const saved = history.pop();
  if (!saved) return;
  restore(saved);
  sliders.forEach(show);
  event.currentTarget.disabled = history.length === 0;
  ask("rest");
});

document.getElementById("reset").addEventListener("click", (event) => {
  event.preventDefault();
  remember();
  for (const slider of sliders) slider.isSet = false;
  ask("rest");
});

sliders.forEach(show);
