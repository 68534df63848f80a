/** Small helpers to build a screen, put it on the stage and speak to screen readers. */

import { settle } from "./settling.js";

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
