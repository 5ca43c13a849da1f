// "Why this number": a native popover opens beside the button that owns it, and stays beside it.
// Without scripts the same popover opens in the middle of the page.
const GAP = 8;
const anchors = new WeakMap(); // popover -> the button it was opened from

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
  anchors.set(popover, button);
  popover.classList.add("placed");
  place(popover, button);
}, true);

// a chart that is drawn late moves the page as a reader does: the popover follows, until its button is gone
addEventListener("scroll", () => {
  for (const popover of document.querySelectorAll(".popover.placed:popover-open")) {
    const button = anchors.get(popover);
    const box = button?.isConnected ? button.getBoundingClientRect() : null;
    if (box && box.bottom > 0 && box.top < innerHeight) place(popover, button);
    else popover.hidePopover();
  }
}, { passive: true });
