/** The memory test: ready, a timed display, restoring the order, and right or wrong. */

import {
  announce, button, counted, el, heading, icon, pressed, quietButton, screenRoot, showScreen,
} from "./dom.js";
import { imagesOf, loadImages, prefetch } from "./images.js";
import { introduce } from "./intro.js";
import { createReorder } from "./reorder.js";
import { painted, pause, since } from "./timing.js";

const HELP = "Drag the pictures, or use the arrows.";
const KEYBOARD_HELP =
  " On a keyboard, Space picks a picture up, the arrow keys move it, " +
  "Space puts it down and Escape puts it back.";
const SHOWN_ONCE =
  "They have already been shown, and that happens only once. Use the order you remember; a guess is fine.";

function roundName({ is_practice: isPractice, trial, trials }) {
  return isPractice ? "Practice" : `Round ${trial} of ${trials}`;
}

/** A screen of a round: which round it is, what to do, and the parts of the screen. */
function showRound(task, { name, className, title }, ...parts) {
  showScreen(
    screenRoot(
      name,
      { position: task.position, className },
      el("p", { class: "eyebrow" }, roundName(task)),
      heading(title),
      ...parts,
    ),
  );
}

/** Loads all pictures in sight of the worker, with a way to try again. */
async function preload(task, { status, retry }) {
  const total = task.images.length;
  const tell = (ready) => {
    status.textContent = ready < total ? `Getting the pictures ready: ${ready} of ${total}` : "";
  };
  tell(0);
  return loadImages(imagesOf(task), {
    ready: tell,
    failed: (tryNow) => {
      status.textContent = "Some pictures did not load. Please check your connection; we will keep trying.";
      announce(status.textContent);
      retry.hidden = false;
      retry.onclick = tryNow;
    },
    recovered: () => {
      retry.hidden = true;
    },
  });
}

function loadingParts() {
  return {
    status: el("p", { class: "soft", id: "memory-status" }),
    retry: quietButton("memory-retry", "Try again", { hidden: true }),
  };
}

/** Resolves with the decoded pictures by id when the worker wants to see them. */
async function getReady(task) {
  const show = button("memory-show", "Show me", { disabled: true });
  const parts = loadingParts();
  const seconds = Math.round(task.exposure_ms / 100) / 10;
  showRound(
    task,
    { name: "memory-ready", className: "is-calm is-centred", title: counted(task.length, "picture") },
    el("p", { class: "lead" }, `You will see them for ${counted(seconds, "second")}. Remember their order.`),
    el("div", { class: "actions" }, show, parts.retry),
    parts.status,
  );
  const pictures = await preload(task, parts);
  show.disabled = false;
  show.focus({ preventScroll: true });
  await pressed(show);
  show.disabled = true;
  return new Map(task.images.map(({ id }, index) => [id, pictures[index]]));
}

async function display(task, picturesById, tab) {
  const wordsById = new Map(task.images.map(({ id, alt }) => [id, alt]));
  const slots = task.order.map((id) => {
    const picture = picturesById.get(id);
    picture.alt = wordsById.get(id);
    const tile = el("div", { class: "tile" }, el("div", { class: "tile-handle" }, picture));
    return el("li", { class: "slot" }, tile);
  });
  const bar = el("div", { class: "timebar", "aria-hidden": "true" }, el("span"));
  bar.firstChild.style.animationDuration = `${task.exposure_ms}ms`;
  const tiles = el("ol", { class: "tiles", "data-count": slots.length }, ...slots);
  showRound(task, { name: "memory-display", className: "is-board", title: "Remember the order" }, bar, tiles);
  let shownAt = null;
  // A page that is left before the first frame has shown them for no time at all.
  const keepTime = () => tab.remember(`shown-${task.position}`, shownAt === null ? 0 : since(shownAt));
  window.addEventListener("pagehide", keepTime);
  shownAt = await painted();
  bar.classList.add("is-running");
  announce(`In order: ${task.order.map((id) => wordsById.get(id)).join(", ")}.`);
  await pause(task.exposure_ms - since(shownAt));
  tiles.replaceChildren();
  keepTime();
  window.removeEventListener("pagehide", keepTime);
  announce("");
}

async function restore(task, tab, { hasJustSeen }) {
  const parts = loadingParts();
  const submit = button("memory-submit", "This is the order", { disabled: true });
  const board = el("div", { class: "board" });
  const keyboardHelp = el("span", { class: "only-with-keys" }, KEYBOARD_HELP);
  showRound(
    task,
    { name: "memory-recall", className: "is-board", title: "Put them back in order" },
    hasJustSeen ? null : el("p", { class: "soft", id: "memory-shown-once" }, SHOWN_ONCE),
    el("p", { class: "soft", id: "reorder-help" }, HELP, keyboardHelp),
    board,
    el("div", { class: "actions" }, submit, parts.retry, parts.status),
  );
  const pictures = await preload(task, parts);
  const items = task.images.map(({ id, alt }, index) => ({ id, alt, image: pictures[index] }));
  const reorder = createReorder(items);
  board.replaceChildren(reorder.list);
  submit.disabled = false;
  const seenAt = await painted();
  await pressed(submit);
  const responseMs = since(seenAt);
  submit.disabled = true;
  reorder.lock();
  const shown = tab.recall(`shown-${task.position}`);
  const exposure = shown === null ? {} : { shown_ms: Number(shown) };
  return { position: task.position, order: reorder.order(), response_ms: responseMs, ...exposure };
}

function whatFollows(feedback, next) {
  if (next.kind !== "memory") return "That was the memory test. Well done.";
  const pictures = counted(next.length, "picture");
  if (feedback.is_practice && next.is_practice) return `One more practice, with ${pictures}.`;
  if (feedback.is_practice) {
    const rounds = counted(next.trials, "round");
    return `That was the practice. Now come ${rounds} that count, starting with ${pictures}.`;
  }
  if (feedback.trial_ended) {
    return `Round ${feedback.trial} is over. The next one starts again with ${pictures}.`;
  }
  return `Next: ${pictures}.`;
}

async function showMemoryFeedback(feedback, next) {
  const isRight = feedback.is_correct;
  const mark = isRight ? "icon-right" : "icon-miss";
  const words = isRight ? `Right, all ${feedback.length} in order` : "Not the right order this time";
  const follows = whatFollows(feedback, next);
  const go = button("feedback-continue", "Continue", { "aria-describedby": "feedback-follows" });
  imagesOf(next).forEach(prefetch);
  showScreen(
    screenRoot(
      "memory-feedback",
      { position: feedback.position, className: "is-calm is-centred" },
      el("div", { class: "verdict-mark", "data-right": String(isRight) }, icon(mark)),
      heading(words, { id: "feedback-verdict" }),
      el("p", { class: "lead", id: "feedback-follows" }, follows),
      el("div", { class: "actions" }, go),
    ),
    go,
  );
  announce(`${words}. ${follows}`);
  await pressed(go);
}

/** @param {import("./api.js").State} state */
export default async function takeMemoryRound(state, context) {
  const { api, tab } = context;
  let { task } = state;
  let hasJustSeen = false;
  const isOpening = task.is_practice || task.trial === 1;
  if (isOpening && task.phase === "ready") await introduce(state, context);
  if (task.phase === "ready") {
    const pictures = await getReady(task);
    task = (await api.startExposure(task.position)).task;
    if (task.order) await display(task, pictures, tab);
    hasJustSeen = Boolean(task.order);
  }
  const reply = await api.answer(await restore(task, tab, { hasJustSeen }));
  if (reply.feedback) await showMemoryFeedback(reply.feedback, reply.task);
  return reply;
}
