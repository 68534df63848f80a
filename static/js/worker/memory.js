/** The memory test: ready, a timed display, restoring the order, and right or wrong. */

import { boardScreen, createReorder, putOn, TITLES } from "./board.js";
import { imagesOf, loadImages, prefetch } from "./images.js";
import { introduce, waitForRoom } from "./pages.js";
import {
  announce, button, counted, el, heading, icon, inSight, isVisible, nextFrame, painted, pressed, quietButton, screenRoot,
  showScreen, since, watchAttention,
} from "./screen.js";

const FIXATION_MS = 700;
const SHOWN_ONCE =
  "The pictures are shown only once, and that has happened. Use the order you remember; a guess is fine.";

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
    return `That was the practice. Now there are ${rounds} that count, starting with ${pictures}.`;
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
  const words = isRight ? `Correct: all ${length} in order.` : "Incorrect order.";
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

/* A timed display by animation frames. What a frame has changed is in sight when the next one begins, so the display lasts
   from the frame after the one that showed the pictures to the frame after the one that hid them. */

/** A frame of a usual screen, until the real one has been measured. */
const USUAL_FRAME_MS = 1000 / 60;
/** No screen is slower; a busy machine is, and its delays must not end a display before its time. */
const LONGEST_FRAME_MS = 1000 / 24;

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? USUAL_FRAME_MS;
}

/** Lets frames pass for a time, from the start again if the page goes out of sight; resolves with the length of a frame. */
async function fixate(milliseconds) {
  await inSight();
  const first = await nextFrame();
  const lengths = [];
  for (let last = first; last - first < milliseconds; ) {
    const now = await nextFrame();
    // No frames come while the page is out of sight.
    if (now - last > milliseconds) return fixate(milliseconds);
    lengths.push(now - last);
    last = now;
  }
  return Math.min(median(lengths), LONGEST_FRAME_MS);
}

/** Resolves when the page goes out of sight, with the time; never, once it has been told to stop. */
function outOfSight() {
  let stop;
  const left = new Promise((resolve) => {
    const look = () => isVisible() || resolve(performance.now());
    document.addEventListener("visibilitychange", look);
    stop = () => document.removeEventListener("visibilitychange", look);
  });
  return { left, stop };
}

/** Waits for the frame whose end is nearest to the moment at which the display should be over; counts what was dropped. */
async function watchFrames(onset, milliseconds, frame) {
  let dropped = 0;
  for (let last = onset; ; ) {
    const now = await nextFrame();
    dropped += Math.max(0, Math.round((now - last) / frame) - 1);
    last = now;
    if (now + frame - onset >= milliseconds - frame / 2) return dropped;
  }
}

/**
 * Fixation, then the display. A page that goes out of sight ends it at once.
 * @param {{fixationMs: number, exposureMs: number, show: () => void, hide: () => void}} what
 * @returns {Promise<{shown_ms: number, dropped_frames: number, hidden_ms: number, unfocused_ms: number}>}
 */
async function expose({ fixationMs, exposureMs, show, hide }) {
  const frame = await fixate(fixationMs);
  const attention = watchAttention();
  const away = outOfSight();
  await nextFrame();
  show();
  const leaving = away.left.then((at) => {
    hide();
    return { at };
  });
  const onset = await Promise.race([nextFrame(), leaving.then(({ at }) => at)]);
  const watching = watchFrames(onset, exposureMs, frame).then((dropped) => {
    hide();
    return { dropped };
  });
  const { at, dropped = 0 } = await Promise.race([watching, leaving]);
  const offset = at ?? (await Promise.race([nextFrame(), away.left]));
  away.stop();
  await inSight();
  const { hiddenMs, unfocusedMs } = attention();
  return {
    shown_ms: offset - onset,
    dropped_frames: dropped,
    // However short it was, the pictures were gone.
    hidden_ms: at === undefined ? hiddenMs : Math.max(hiddenMs, 1),
    unfocused_ms: unfocusedMs,
  };
}

/** The device as far as it matters for what can be seen on it. */
function device() {
  const pointer = ["fine", "coarse"].find((kind) => matchMedia(`(pointer: ${kind})`).matches) ?? "none";
  return {
    window_width: window.innerWidth,
    window_height: window.innerHeight,
    pixel_ratio: window.devicePixelRatio,
    pointer,
  };
}
