/** The board of the memory test: as many pictures as a round has, as large as the free area allows. */

import { button, el, heading, quietButton, screenRoot } from "./dom.js";

/** Smaller than this a picture cannot be told from another at a glance. */
export const SMALLEST_PX = 72;
const LARGEST_PX = 176;
/**
 * What a slot has around its picture (padding, border, the number above, the arrows below), and what is between slots. From
 * the roomiest to the tightest; a tighter one only where the pictures would be too small otherwise. Tapping, dragging and
 * keys do what the arrows do.
 */
const FORMS = [
  { form: "arrows", width: 14, height: 77, gap: 8 },
  { form: "plain", width: 14, height: 32, gap: 8 },
  { form: "tight", width: 4, height: 20, gap: 4 },
];
/** Of what is said above the pictures, in all phases: the place for it stays the same. */
export const TITLES = { ready: "Ready …", display: "Remember the order", recall: "Put them back in order" };
const HELP = "Tap the pictures in the order you saw them, or drag them to their places.";
const KEYBOARD_HELP =
  " On a keyboard, Enter takes a picture as the next one; Space picks it up, the arrow keys move it, " +
  "Space puts it down and Escape puts it back.";

/** @typedef {{width: number, height: number}} Area */

/** The side of a picture when so many stand in so many columns. */
function sideOf(count, columns, area, { width, height, gap }) {
  const rows = Math.ceil(count / columns);
  const across = (area.width - (columns - 1) * gap) / columns - width;
  const down = (area.height - (rows - 1) * gap) / rows - height;
  return Math.min(across, down);
}

function best(count, area, form) {
  const columns = Array.from({ length: count }, (_, index) => index + 1);
  const sides = columns.map((number) => sideOf(count, number, area, form));
  const side = Math.max(...sides.map((one) => Math.min(one, LARGEST_PX)));
  // Of equally large ones those in the fewest rows, because an order is read along a line; and the rows of equal length.
  const widest = columns.findLastIndex((_, index) => sides[index] >= side) + 1;
  const rows = Math.ceil(count / widest);
  return { columns: Math.ceil(count / rows), side, form: form.form };
}

/**
 * How the pictures of a round stand in an area: in the roomiest form that does not make them too small, in as many columns
 * as make them largest.
 * @param {number} count
 * @param {Area} area
 * @returns {{columns: number, side: number, form: string}}
 */
export function arrangement(count, area) {
  const ways = FORMS.map((form) => best(count, area, form));
  return ways.find(({ side }) => side >= SMALLEST_PX) ?? ways.at(-1);
}

/** Sizes a list of tiles for the board that it stands on. */
function fit(list, board, count) {
  const { columns, side, form } = arrangement(count, board.getBoundingClientRect());
  list.style.setProperty("--columns", String(columns));
  list.style.setProperty("--side", `${Math.max(side, 0)}px`);
  list.dataset.form = form;
}

/**
 * A screen of a round. Every phase has the same parts in the same places, so that no slot moves from one to the next; what
 * a phase does not use is there without being seen.
 * @param {{name: string, position: number|null, eyebrow: string, title: string, help?: string}} words
 */
export function boardScreen({ name, position, eyebrow, title, help = HELP }) {
  const parts = {
    board: el("div", { class: "board" }),
    bar: el("div", { class: "timebar", "aria-hidden": "true" }, el("span")),
    submit: button("memory-submit", "This is the order", { disabled: true }),
    undo: quietButton("memory-undo", "Undo", { disabled: true }),
    retry: quietButton("memory-retry", "Try again", { hidden: true }),
    status: el("p", { class: "soft", id: "memory-status", hidden: true }),
  };
  const words = heading("", { class: "board-title", "data-room": TITLES.recall });
  words.append(el("span", {}, title));
  const keys = el("span", { class: "keyboard-help" }, KEYBOARD_HELP);
  const root = screenRoot(
    name,
    { position, className: "is-board" },
    el("div", { class: "board-words" }, el("p", { class: "eyebrow" }, eyebrow), words),
    el("p", { class: "soft board-help", id: "reorder-help" }, help, keys),
    parts.bar,
    parts.board,
    el("div", { class: "actions" }, parts.submit, parts.undo, parts.retry, parts.status),
  );
  return { root, ...parts };
}

/** Puts a list on a board and keeps it as large as the board allows. */
export function putOn(board, list, count) {
  board.replaceChildren(list);
  fit(list, board, count);
  new ResizeObserver(() => fit(list, board, count)).observe(board);
}

/** Whether so many pictures, the words and the buttons fit into this window, seen on a board that nobody sees. */
export function hasRoomFor(count) {
  const stage = document.getElementById("stage");
  const { root, board } = boardScreen({ name: "", position: null, eyebrow: "Round", title: TITLES.recall });
  root.classList.add("is-measured");
  root.removeAttribute("data-screen");
  root.style.height = `${window.innerHeight - (stage.getBoundingClientRect().top + window.scrollY)}px`;
  stage.append(root);
  const area = board.getBoundingClientRect();
  const isWhole = root.scrollHeight <= root.clientHeight + 1;
  root.remove();
  return isWhole && arrangement(count, area).side >= SMALLEST_PX;
}
