/** The board of the memory test: as many pictures as a round has, as large as the free area allows. */

import { button, el, heading, quietButton, screenRoot } from "./dom.js";

/** Smaller than this a picture cannot be told from another at a glance. */
export const SMALLEST_PX = 72;
const LARGEST_PX = 176;
/** What a tile has around its picture: its padding and border, the arrows below, and the number above. */
const AROUND = { width: 14, height: 32, arrows: 45 };
const GAP = { x: 8, y: 8 };
/** Of what is said above the pictures, in all phases: the place for it stays the same. */
export const TITLES = { ready: "Ready …", display: "Remember the order", recall: "Put them back in order" };
const HELP = "Tap the pictures in the order you saw them, or drag them to their places.";
const KEYBOARD_HELP =
  " On a keyboard, Enter takes a picture as the next one; Space picks it up, the arrow keys move it, " +
  "Space puts it down and Escape puts it back.";

/** @typedef {{width: number, height: number}} Area */

/** The side of a picture when so many stand in so many columns. */
function sideOf(count, columns, area, around) {
  const rows = Math.ceil(count / columns);
  const width = (area.width - (columns - 1) * GAP.x) / columns - AROUND.width;
  const height = (area.height - (rows - 1) * GAP.y) / rows - around;
  return Math.min(width, height);
}

function best(count, area, around) {
  const columns = Array.from({ length: count }, (_, index) => index + 1);
  const sides = columns.map((number) => sideOf(count, number, area, around));
  const side = Math.max(...sides.map((one) => Math.min(one, LARGEST_PX)));
  // Of equally large ones the widest: an order is read along a line.
  return { columns: columns.findLastIndex((_, index) => sides[index] >= side) + 1, side };
}

/**
 * How the pictures of a round stand in an area: in as many columns as make them largest. The arrows below each picture give
 * way where they would make the pictures too small; tapping, dragging and keys do the same.
 * @param {number} count
 * @param {Area} area
 * @returns {{columns: number, side: number, hasArrows: boolean}}
 */
export function arrangement(count, area) {
  const full = best(count, area, AROUND.height + AROUND.arrows);
  if (full.side >= SMALLEST_PX) return { ...full, hasArrows: true };
  return { ...best(count, area, AROUND.height), hasArrows: false };
}

/** Sizes a list of tiles for the board that it stands on. */
function fit(list, board, count) {
  const { columns, side, hasArrows } = arrangement(count, board.getBoundingClientRect());
  list.style.setProperty("--columns", String(columns));
  list.style.setProperty("--side", `${Math.max(side, 0)}px`);
  list.dataset.arrows = hasArrows ? "yes" : "no";
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

/** Whether so many pictures fit into this window, seen on a board that nobody sees. */
export function hasRoomFor(count) {
  const stage = document.getElementById("stage");
  const { root, board } = boardScreen({ name: "", position: null, eyebrow: "Round", title: TITLES.recall });
  root.classList.add("is-measured");
  root.removeAttribute("data-screen");
  root.style.height = `${window.innerHeight - (stage.getBoundingClientRect().top + window.scrollY)}px`;
  stage.append(root);
  const area = board.getBoundingClientRect();
  root.remove();
  return arrangement(count, area).side >= SMALLEST_PX;
}
