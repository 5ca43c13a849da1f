// "Why this number": a native popover opens beside the button that owns it.
// Without scripts the same popover opens in the middle of the page.
const GAP = 8;

function place(popover, button) {
  const box = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popover;
  const below = box.bottom + GAP;
  const above = box.top - GAP - height;
  const top = below + height <= innerHeight || above < GAP ? below : above;
  popover.style.left = `${Math.max(GAP, Math.min(innerWidth - width - GAP, box.left))}px`;
  popover.style.top = `${Math.max(GAP, Math.min(top, innerHeight - height - GAP))}px`;
}

// toggle does not bubble: it is caught on its way down
document.addEventListener("toggle", (event) => {
  const popover = event.target;
  if (!(popover instanceof HTMLElement) || !popover.matches("[popover].popover")) return;
  if (event.newState !== "open") return;
  const owner = `[popovertarget="${CSS.escape(popover.id)}"]`;
  // one number may stand in several places: the popover belongs beside the one that was pressed
  const pressed = document.activeElement?.closest(owner);
  const button = pressed ?? document.querySelector(owner);
  if (!button) return;
  popover.classList.add("placed");
  place(popover, button);
}, true);

addEventListener("scroll", () => {
  for (const popover of document.querySelectorAll(".popover:popover-open")) popover.hidePopover();
}, { passive: true });
