/**
 * Pictures in numbered slots that a person puts in order: by dragging (mouse, pen, finger), by the
 * keyboard alone, or by the two arrows under each picture.
 */

import { announce, el, icon } from "./dom.js";

const DRAG_STARTS_AT_PX = 5;

function moved(list, from, to) {
  const copy = [...list];
  copy.splice(to, 0, ...copy.splice(from, 1));
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
 * @returns {{list: HTMLElement, order: () => string[], lock: () => void}}
 */
export function createReorder(items) {
  const slots = items.map(() => el("li", { class: "slot" }));
  const list = el("ol", { class: "tiles", id: "tiles", "data-count": items.length }, ...slots);
  let tiles = items.map(makeTile);
  let drag = null;
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

  function moveTo(tile, target) {
    const to = Math.max(0, Math.min(tiles.length - 1, target));
    const from = tiles.indexOf(tile);
    if (isLocked || to === from) return;
    place(moved(tiles, from, to));
    announce(`${tile.words}, now in place ${to + 1} of ${tiles.length}.`);
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
    list.classList.remove("is-sorting");
    slots.forEach((slot) => slot.classList.remove("is-target"));
    if (!hasMoved) return;
    place(isDropped ? moved(tiles, from, to) : tiles);
    tile.classList.remove("is-dragged");
    if (isDropped && from !== to) announce(`${tile.words}, now in place ${to + 1} of ${tiles.length}.`);
  }

  // By keyboard: Space or Enter picks up and puts down, arrows move, Escape puts it back.

  function pressKey(event, tile) {
    const index = tiles.indexOf(tile);
    const across = getComputedStyle(list).gridTemplateColumns.split(" ").length;
    const row = across < tiles.length ? across : 1;
    const targets = {
      ArrowLeft: index - 1, ArrowRight: index + 1, ArrowUp: index - row, ArrowDown: index + row,
      Home: 0, End: tiles.length - 1,
    };
    const isToggle = event.key === " " || event.key === "Enter";
    if (event.key === "Escape" && drag) endDrag(false);
    else if (event.key === "Escape" && picked) putBack();
    else if (isToggle && !event.repeat && !isLocked) picked ? putDown(tile) : pickUp(tile);
    else if (event.key in targets && picked) moveTo(tile, targets[event.key]);
    else if (event.key in targets) tiles[targets[event.key]]?.handle.focus();
    else if (!isToggle) return;
    event.preventDefault();
  }

  function pickUp(tile) {
    picked = { tile, before: tiles };
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
    const { tile, before } = picked;
    letGo();
    place(before);
    announce(`${tile.words} put back in place ${tiles.indexOf(tile) + 1}.`);
  }

  return {
    list,
    order: () => tiles.map((tile) => tile.dataset.id),
    lock() {
      isLocked = true;
      list.querySelectorAll("button").forEach((button) => button.setAttribute("aria-disabled", "true"));
    },
  };
}
