/** The memory test: ready, a timed display, restoring the order, and right or wrong. */

import { boardScreen, putOn, TITLES } from "./board.js";
import { waitForRoom } from "./check.js";
import { announce, button, counted, el, heading, icon, pressed, quietButton, screenRoot, showScreen } from "./dom.js";
import { device, expose } from "./exposure.js";
import { imagesOf, loadImages, prefetch } from "./images.js";
import { introduce } from "./intro.js";
import { createReorder } from "./reorder.js";
import { painted, since } from "./timing.js";

const FIXATION_MS = 700;
const SHOWN_ONCE =
  "They have already been shown, and that happens only once. Use the order you remember; a guess is fine.";

const DISTURBED = {
  interrupted: "The page was reloaded or left while the pictures were shown.",
  hidden: "The page was out of sight while the pictures were shown.",
  mistimed: "Your device was too busy to show the pictures for the right time.",
};

function roundName({ is_practice: isPractice, trial, trials }) {
  return isPractice ? "Practice" : `Round ${trial} of ${trials}`;
}

/** Loads all pictures in sight of the worker, with a way to try again. */
async function preload(task, { status, retry }) {
  const total = task.images.length;
  const tell = (words) => {
    status.textContent = words;
    status.hidden = !words;
  };
  const count = (ready) => tell(ready < total ? `Getting the pictures ready: ${ready} of ${total}` : "");
  count(0);
  return loadImages(imagesOf(task), {
    ready: count,
    failed: (tryNow) => {
      tell("Some pictures did not load. Please check your connection; we will keep trying.");
      announce(status.textContent);
      retry.hidden = false;
      retry.onclick = tryNow;
    },
    recovered: () => {
      retry.hidden = true;
    },
  });
}

/** Resolves with the decoded pictures by id when the worker wants to see them. */
async function getReady(task) {
  const show = button("memory-show", "Show me", { disabled: true });
  const parts = {
    status: el("p", { class: "soft", id: "memory-status" }),
    retry: quietButton("memory-retry", "Try again", { hidden: true }),
  };
  const seconds = Math.round(task.exposure_ms / 100) / 10;
  showScreen(
    screenRoot(
      "memory-ready",
      { position: task.position, className: "is-calm is-centred" },
      el("p", { class: "eyebrow" }, roundName(task)),
      heading(counted(task.length, "picture")),
      el("p", { class: "lead" }, `You will see them for ${counted(seconds, "second")}. Remember their order.`),
      el("div", { class: "actions" }, show, parts.retry),
      parts.status,
    ),
  );
  const pictures = await preload(task, parts);
  show.disabled = false;
  show.focus({ preventScroll: true });
  await pressed(show);
  show.disabled = true;
  return new Map(task.images.map(({ id }, index) => [id, pictures[index]]));
}

function phaseScreen(task, name, title, help) {
  return boardScreen({ name, position: task.position, eyebrow: roundName(task), title, help });
}

/** The pictures in their slots, without anything to move them by. */
function displayedTiles(task, picturesById) {
  const wordsById = new Map(task.images.map(({ id, alt }) => [id, alt]));
  const slots = task.order.map((id) => {
    const picture = picturesById.get(id);
    picture.alt = wordsById.get(id);
    const tile = el("div", { class: "tile" }, el("div", { class: "tile-handle" }, picture));
    return el("li", { class: "slot" }, tile);
  });
  const words = `In order: ${task.order.map((id) => wordsById.get(id)).join(", ")}.`;
  return { list: el("ol", { class: "tiles", "data-count": slots.length }, ...slots), words };
}

/** Fixation and display; resolves with how the display went. */
async function display(task, picturesById) {
  const fixation = phaseScreen(task, "memory-fixation", TITLES.ready);
  fixation.board.append(el("div", { class: "fixation", "aria-hidden": "true" }));
  showScreen(fixation.root);
  const { root, board, bar } = phaseScreen(task, "memory-display", TITLES.display);
  const { list, words } = displayedTiles(task, picturesById);
  bar.firstChild.style.animationDuration = `${task.exposure_ms}ms`;
  let side = 0;
  const went = await expose({
    fixationMs: FIXATION_MS,
    exposureMs: task.exposure_ms,
    show() {
      showScreen(root);
      putOn(board, list, task.length);
      bar.classList.add("is-running");
      side = list.querySelector("img").getBoundingClientRect().width;
      announce(words);
    },
    hide() {
      list.replaceChildren();
      announce("");
    },
  });
  return { ...went, ...device(), picture_px: side };
}

async function restore(task, { hasJustSeen }) {
  const screen = phaseScreen(task, "memory-recall", TITLES.recall, hasJustSeen ? undefined : SHOWN_ONCE);
  const { root, board, submit, undo } = screen;
  showScreen(root);
  const pictures = await preload(task, screen);
  const items = task.images.map(({ id, alt }, index) => ({ id, alt, image: pictures[index] }));
  const reorder = createReorder(items, {
    onChange: ({ canUndo }) => {
      undo.disabled = !canUndo;
    },
  });
  undo.addEventListener("click", () => reorder.undo());
  putOn(board, reorder.list, items.length);
  submit.disabled = false;
  const seenAt = await painted();
  await pressed(submit);
  const responseMs = since(seenAt);
  submit.disabled = true;
  undo.disabled = true;
  reorder.lock();
  return { position: task.position, order: reorder.order(), response_ms: responseMs };
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

async function showVerdict({ position, mark, isRight, words, follows, next }) {
  const go = button("feedback-continue", "Continue");
  imagesOf(next).forEach(prefetch);
  showScreen(
    screenRoot(
      "memory-feedback",
      { position, className: "is-calm is-centred" },
      el("div", { class: "verdict-mark", "data-right": String(isRight) }, icon(mark)),
      heading(words, { id: "feedback-verdict", "aria-describedby": "feedback-follows" }),
      el("p", { class: "lead", id: "feedback-follows" }, follows),
      el("div", { class: "actions" }, go),
    ),
  );
  await pressed(go);
}

function showMemoryFeedback(feedback, next) {
  const { position, is_correct: isRight, length } = feedback;
  const words = isRight ? `Right, all ${length} in order` : "Not the right order this time";
  const mark = isRight ? "icon-right" : "icon-miss";
  return showVerdict({ position, mark, isRight, words, follows: whatFollows(feedback, next), next });
}

/** The round did not count, through nobody's fault, and comes again. */
function showDisturbed({ position, disturbance }, next) {
  const follows = `${DISTURBED[disturbance]} That round does not count: here is another one with new pictures.`;
  return showVerdict({ position, mark: "icon-wait", isRight: false, words: "Let us do that again", follows, next });
}

/** Shows the pictures to a worker who is ready; resolves with the task and how the display went. */
async function showPictures(task, { api, tab }) {
  const pictures = await getReady(task);
  const started = (await api.startExposure(task.position)).task;
  const went = await display(started, pictures);
  tab.remember(`display-${task.position}`, JSON.stringify(went));
  return started;
}

/** Tells the server how the display went. Of one that this tab never saw the end of it says so. */
function report({ position }, { api, tab }) {
  const went = tab.recall(`display-${position}`);
  return api.endExposure({ position, ...(went ? JSON.parse(went) : { is_interrupted: true }) });
}

/** @param {import("./api.js").State} state */
export default async function takeMemoryRound(state, context) {
  const { api } = context;
  let { task } = state;
  const hasJustSeen = task.phase === "ready";
  if (hasJustSeen) {
    if (task.is_practice || task.trial === 1) await introduce(state, context);
    await waitForRoom(task);
    task = await showPictures(task, context);
  }
  if (!task.is_reported) {
    const told = await report(task, context);
    if (told.feedback) {
      await showDisturbed(told.feedback, told.task);
      return told;
    }
    ({ task } = told);
  }
  const reply = await api.answer(await restore(task, { hasJustSeen }));
  if (reply.feedback) await showMemoryFeedback(reply.feedback, reply.task);
  return reply;
}
