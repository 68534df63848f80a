/** The board of the memory test: pictures as large as the free area allows, and the ways to put them in order. */

import { announce, button, el, heading, icon, quietButton, screenRoot } from "./screen.js";

/** Smaller than this a picture cannot be told from another at a glance. */
const SMALLEST_PX = 72;
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
function arrangement(count, area) {
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

/* Ordering: by tapping the pictures one after the other, by dragging (mouse, pen, finger), by the keyboard alone, or by the
   two arrows under each picture. Every step can be undone. */

const DRAG_STARTS_AT_PX = 5;

function moved(list, from, to) {
  const copy = [...list];
  copy.splice(to, 0, ...copy.splice(from, 1));
  return copy;
}

function swapped(list, one, other) {
  const copy = [...list];
  [copy[one], copy[other]] = [copy[other], copy[one]];
  return copy;
}

function nearest(boxes, x, y) {
  const distances = boxes.map((box) =>
    Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y),
  );
  return distances.indexOf(Math.min(...distances));
}

function shift(tile, from, to) {
  tile.style.transform = `translate(${to.x - from.x}px, ${to.y - from.y}px)`;
}

/**
 * @param {{id: string, alt: string, image: HTMLImageElement}[]} items
 * @param {{onChange: (state: {canUndo: boolean}) => void}} watcher
 * @returns {{list: HTMLElement, order: () => string[], undo: () => void, lock: () => void}}
 */
export function createReorder(items, { onChange }) {
  const slots = items.map(() => el("li", { class: "slot" }));
  const list = el("ol", { class: "tiles", id: "tiles", "data-count": items.length }, ...slots);
  let tiles = items.map(makeTile);
  // How many of the first slots were filled by tapping in order.
  let tapped = 0;
  let history = [];
  let drag = null;
  let hasDragged = false;
  let picked = null;
  let isPlacing = false;
  let isLocked = false;
  place(tiles);

  function makeTile({ id, alt, image }) {
    image.alt = "";
    const handle = el(
      "button",
      { class: "tile-handle", type: "button", "aria-describedby": "reorder-help", "aria-pressed": "false" },
      image,
    );
    const arrow = (word, by) => {
      const click = () => moveTo(tile, tiles.indexOf(tile) + by);
      const named = { "data-step": word, "aria-label": `Move ${alt} ${word}` };
      return el("button", { class: "tile-step", type: "button", ...named, click }, icon(`icon-${word}`));
    };
    const steps = el("div", { class: "tile-steps" }, arrow("earlier", -1), arrow("later", 1));
    const tile = el("div", { class: "tile", "data-id": id }, handle, steps);
    Object.assign(tile, { handle, words: alt });
    handle.addEventListener("pointerdown", (event) => startDrag(event, tile));
    handle.addEventListener("pointermove", moveDrag);
    handle.addEventListener("pointerup", () => endDrag(true));
    handle.addEventListener("pointercancel", () => endDrag(false));
    handle.addEventListener("lostpointercapture", () => endDrag(false));
    handle.addEventListener("contextmenu", (event) => event.preventDefault());
    handle.addEventListener("click", () => tap(tile));
    handle.addEventListener("keydown", (event) => pressKey(event, tile));
    handle.addEventListener("blur", () => isPlacing || (picked?.tile === tile && putDown(tile)));
    return tile;
  }

  /** Puts the tiles into the slots in this order; each glides there from where it was seen. */
  function place(order) {
    const focused = document.activeElement;
    const before = order.map((tile) => tile.getBoundingClientRect());
    isPlacing = true;
    tiles = order;
    tiles.forEach((tile, index) => {
      tile.style.transform = "";
      if (tile.parentElement !== slots[index]) slots[index].append(tile);
      describe(tile, index);
    });
    mark();
    if (list.contains(focused) || focused?.closest?.(".tile")) focused.focus({ preventScroll: true });
    isPlacing = false;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    tiles.forEach((tile, index) => {
      const after = tile.getBoundingClientRect();
      const [x, y] = [before[index].x - after.x, before[index].y - after.y];
      if (before[index].width === 0 || (x === 0 && y === 0)) return;
      const frames = [{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }];
      tile.animate(frames, { duration: 160, easing: "ease-out" });
    });
  }

  function describe(tile, index) {
    tile.handle.setAttribute("aria-label", `${tile.words}, place ${index + 1} of ${tiles.length}`);
    const [earlier, later] = tile.querySelectorAll(".tile-step");
    earlier.setAttribute("aria-disabled", String(index === 0));
    later.setAttribute("aria-disabled", String(index === tiles.length - 1));
  }

  /** Shows which slots were filled by tapping, and which one is next. */
  function mark() {
    slots.forEach((slot, index) => {
      slot.classList.toggle("is-set", index < tapped);
      slot.classList.toggle("is-next", tapped > 0 && index === tapped);
    });
  }

  /** A change that can be undone: a new order, and how far it was tapped. */
  function change(order, count = 0) {
    history.push({ tiles, tapped });
    tapped = count;
    place(order);
    onChange({ canUndo: true });
  }

  function undo() {
    if (isLocked || !history.length) return;
    const before = history.pop();
    ({ tapped } = before);
    place(before.tiles);
    onChange({ canUndo: history.length > 0 });
    announce(`Undone. Now in order: ${tiles.map(({ words }) => words).join(", ")}.`);
  }

  function tell(tile) {
    announce(`${tile.words}, now in place ${tiles.indexOf(tile) + 1} of ${tiles.length}.`);
  }

  function moveTo(tile, target) {
    const to = Math.max(0, Math.min(tiles.length - 1, target));
    const from = tiles.indexOf(tile);
    if (isLocked || to === from) return;
    change(moved(tiles, from, to));
    tell(tile);
  }

  // By tapping: each takes the next slot, from the one that was there. A tap on one that was tapped takes it back, and
  // those behind it.

  function tap(tile) {
    if (isLocked || hasDragged) return;
    const from = tiles.indexOf(tile);
    if (from < tapped) {
      change(tiles, from);
      announce(`${tile.words} taken back. Place ${from + 1} is next.`);
      return;
    }
    const count = tapped + 1;
    // Whoever has tapped all but one has said where that one belongs.
    change(swapped(tiles, from, tapped), count === tiles.length - 1 ? tiles.length : count);
    tell(tile);
  }

  // By pointer: the dragged tile stays in its slot, and only looks elsewhere, until it is dropped.

  function startDrag(event, tile) {
    if (isLocked || drag || event.button !== 0) return;
    const from = tiles.indexOf(tile);
    const boxes = slots.map((slot) => slot.getBoundingClientRect());
    drag = { tile, from, to: from, boxes, x: event.clientX, y: event.clientY, hasMoved: false };
    tile.handle.setPointerCapture(event.pointerId);
  }

  function moveDrag(event) {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.hasMoved && Math.hypot(x, y) < DRAG_STARTS_AT_PX) return;
    const home = drag.boxes[drag.from];
    drag.hasMoved = true;
    hasDragged = true;
    list.classList.add("is-sorting");
    drag.tile.classList.add("is-dragged");
    drag.tile.style.transform = `translate(${x}px, ${y}px)`;
    drag.to = nearest(drag.boxes, home.x + home.width / 2 + x, home.y + home.height / 2 + y);
    moved(tiles, drag.from, drag.to).forEach((tile, index) => {
      if (tile !== drag.tile) shift(tile, drag.boxes[tiles.indexOf(tile)], drag.boxes[index]);
    });
    slots.forEach((slot, index) => slot.classList.toggle("is-target", index === drag.to));
  }

  function endDrag(isDropped) {
    if (!drag) return;
    const { tile, from, to, hasMoved } = drag;
    drag = null;
    // The click that ends a drag comes at once, and is no tap.
    setTimeout(() => {
      hasDragged = false;
    });
    list.classList.remove("is-sorting");
    slots.forEach((slot) => slot.classList.remove("is-target"));
    if (!hasMoved) return;
    const isMoved = isDropped && from !== to;
    if (isMoved) change(moved(tiles, from, to));
    else place(tiles);
    tile.classList.remove("is-dragged");
    if (isMoved) tell(tile);
  }

  // By keyboard: Enter takes the next slot as a tap does; Space picks up and puts down, arrows move, Escape puts it back.

  function pressKey(event, tile) {
    const index = tiles.indexOf(tile);
    const across = getComputedStyle(list).gridTemplateColumns.split(" ").length;
    const row = across < tiles.length ? across : 1;
    const targets = {
      ArrowLeft: index - 1, ArrowRight: index + 1, ArrowUp: index - row, ArrowDown: index + row,
      Home: 0, End: tiles.length - 1,
    };
    const isToggle = event.key === " " || (event.key === "Enter" && picked);
    if (event.key === "Escape" && drag) endDrag(false);
    else if (event.key === "Escape" && picked) putBack();
    else if (isToggle && !event.repeat && !isLocked) picked ? putDown(tile) : pickUp(tile);
    else if (event.key in targets && picked) moveTo(tile, targets[event.key]);
    else if (event.key in targets) tiles[targets[event.key]]?.handle.focus();
    else if (!isToggle && !(event.key === "Enter" && event.repeat)) return;
    event.preventDefault();
  }

  function pickUp(tile) {
    picked = { tile, before: tiles, tapped, steps: history.length };
    tile.classList.add("is-picked");
    tile.handle.setAttribute("aria-pressed", "true");
    announce(`Picked up ${tile.words}. Arrow keys move it, Space puts it down, Escape puts it back.`);
  }

  function letGo() {
    picked.tile.classList.remove("is-picked");
    picked.tile.handle.setAttribute("aria-pressed", "false");
    picked = null;
  }

  function putDown(tile) {
    letGo();
    announce(`${tile.words} put down in place ${tiles.indexOf(tile) + 1} of ${tiles.length}.`);
  }

  function putBack() {
    const { tile, before, steps } = picked;
    ({ tapped } = picked);
    history = history.slice(0, steps);
    letGo();
    place(before);
    onChange({ canUndo: history.length > 0 });
    announce(`${tile.words} put back in place ${tiles.indexOf(tile) + 1}.`);
  }

  return {
    list,
    order: () => tiles.map((tile) => tile.dataset.id),
    undo,
    lock() {
      isLocked = true;
      list.querySelectorAll("button").forEach((button) => button.setAttribute("aria-disabled", "true"));
    },
  };
}
