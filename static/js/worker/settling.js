/**
 * Presses in the first moments of a screen were meant for the one before it: a double click, a key that was pressed
 * twice. They do nothing.
 */

import { painted } from "./timing.js";

const SETTLING_MS = 400;
const SETTLING = "data-settling";

const stage = document.getElementById("stage");
let latest = 0;
const swallowed = new Set();

/** The stage shows something new. Style sheets let it take no pointer while it settles. */
export async function settle() {
  latest += 1;
  const change = latest;
  stage.setAttribute(SETTLING, "");
  const paintedAt = await painted();
  setTimeout(() => change === latest && stage.removeAttribute(SETTLING), paintedAt + SETTLING_MS - performance.now());
}

/** Keys that act on a screen. Tab, Escape, scrolling and the browser's own shortcuts stay what they are. */
function acts({ key, ctrlKey, metaKey, altKey }) {
  return !(ctrlKey || metaKey || altKey) && (key?.length === 1 || key === "Enter" || key?.startsWith("Arrow"));
}

/** What lies over the stage, and what stands beside it, was not changed. */
function isTooSoon({ target, type, key }) {
  if (!stage.hasAttribute(SETTLING) || target.closest?.("dialog")) return false;
  return !(target.closest?.("header") && (type === "click" || key === "Enter" || key === " "));
}

function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function onKeyDown(event) {
  if (!acts(event) || !isTooSoon(event)) return;
  swallowed.add(event.key);
  swallow(event);
}

/** A button is pressed by the space bar when it comes up again. */
function onKeyUp(event) {
  if (swallowed.delete(event.key)) swallow(event);
}

window.addEventListener("click", (event) => isTooSoon(event) && swallow(event), { capture: true });
window.addEventListener("keydown", onKeyDown, { capture: true });
window.addEventListener("keyup", onKeyUp, { capture: true });
