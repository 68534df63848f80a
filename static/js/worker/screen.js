/** Parts of every screen: elements, the stage that shows them, early presses, and time measured from painted frames. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element: `el("p", {class: "soft"}, "Hello")`. Functions become listeners, true a bare
 * attribute; null and false are left out.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node|string|null)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  // Safari's Tab key passes over buttons that do not ask for it.
  if (tag === "button") element.tabIndex = 0;
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A button with a stable id: `button("memory-show", "Show me", { disabled: true })`. */
export function button(id, words, attributes = {}) {
  return el("button", { class: "button", id, type: "button", ...attributes }, words);
}

/** A button for the way that is not the main one. */
export function quietButton(id, words, attributes = {}) {
  return button(id, words, { class: "button is-quiet", ...attributes });
}

/** An icon or a drawing of the sheet in the page, hidden from screen readers. */
export function icon(name, className = "icon") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

/** The heading of a screen: it can take the focus, so that it is read out first. */
export function heading(text, attributes = {}) {
  return el("h1", { tabindex: -1, ...attributes }, text);
}

/**
 * Puts one screen on the stage and moves the focus into it.
 * @param {HTMLElement} screen
 * @param {HTMLElement|null} [focus] what takes the focus; the heading when not named
 */
export function showScreen(screen, focus = null) {
  const stage = document.getElementById("stage");
  stage.replaceChildren(screen);
  // What was said belongs to the screen before.
  announce("");
  settle();
  window.scrollTo(0, 0);
  (focus ?? screen.querySelector("h1"))?.focus({ preventScroll: true });
}

/** A screen's root: `data-screen` names it, `data-position` tells the task it belongs to. */
export function screenRoot(name, { position = null, className = "" } = {}, ...children) {
  const classes = `screen ${className}`.trim();
  return el("section", { class: classes, "data-screen": name, "data-position": position }, ...children);
}

/** Says something to screen readers; the same words twice in a row are said twice. */
export function announce(text) {
  const announcer = document.getElementById("announcer");
  if (text === "") announcer.replaceChildren();
  else announcer.textContent = announcer.textContent === text ? `${text}\u00a0` : text;
}

let noteTimer = 0;

/** A short friendly message at the bottom of the page that disappears after a while. */
export function showNote(text) {
  const note = document.getElementById("note");
  note.textContent = text;
  note.classList.add("is-shown");
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => {
    note.classList.remove("is-shown");
    note.textContent = "";
  }, 7000);
}

/** Resolves when the button is pressed; a key that is held down presses once. */
export function pressed(button) {
  button.addEventListener("keydown", (event) => {
    if (event.repeat) event.preventDefault();
  });
  return new Promise((resolve) => button.addEventListener("click", resolve, { once: true }));
}

/** `counted(3, "picture")` is "3 pictures". */
export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A class by its name, in the direction of its own script. */
export function className(name, attributes = {}) {
  return el("bdi", attributes, name);
}

/* Presses in the first moments of a screen were meant for the one before it: a double click, a key that was pressed
   twice. They do nothing. */

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

/* Time: from the painted frame, by the monotonic clock */

/** Resolves at the next animation frame with the time at which that frame began. */
export const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/** Resolves with the time at which what is in the page now has been painted. */
export async function painted() {
  await nextFrame();
  return nextFrame();
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Whole milliseconds since a moment of the same clock. */
export function since(moment) {
  return Math.round(performance.now() - moment);
}

/* Attention: for how long the page is visible and focused */

export const isVisible = () => document.visibilityState === "visible";

/** Resolves as soon as the page is in sight. */
export function inSight() {
  return new Promise((resolve) => {
    const look = () => {
      if (!isVisible()) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });
}

/** A stop watch for the time in which the page is not what it should be. */
function stopWatch(isAway) {
  let total = 0;
  let since = isAway() ? performance.now() : null;
  return {
    look() {
      if (isAway()) since ??= performance.now();
      else if (since !== null) {
        total += performance.now() - since;
        since = null;
      }
    },
    read: () => total + (since === null ? 0 : performance.now() - since),
  };
}

/** Notes from now on how long the page is out of sight and out of focus; what it returns says so, and ends it. */
export function watchAttention() {
  const hidden = stopWatch(() => !isVisible());
  const unfocused = stopWatch(() => !document.hasFocus());
  const look = () => [hidden, unfocused].forEach((watch) => watch.look());
  const places = [[document, "visibilitychange"], [window, "blur"], [window, "focus"]];
  places.forEach(([place, kind]) => place.addEventListener(kind, look));
  return () => {
    places.forEach(([place, kind]) => place.removeEventListener(kind, look));
    return { hiddenMs: hidden.read(), unfocusedMs: unfocused.read() };
  };
}
