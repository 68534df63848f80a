/** Right or wrong, with the true class beside the chosen one, in the place of the question. */

import { inSight, watchAttention } from "./attention.js";
import { classifyScreen, showAnswer } from "./classify.js";
import { el, pressed } from "./dom.js";
import { imagesOf, loadImage, prefetch } from "./images.js";
import { goesOn } from "./keys.js";
import { settle } from "./settling.js";
import { painted, pause, since } from "./timing.js";

const ACKNOWLEDGED = "feedback-acknowledged";
const LOOKED = "feedback-looked";

/** The screen of a question that was answered before this page was loaded. */
async function answeredScreen({ position, image }, { session, counter, overlay }) {
  const picture = await loadImage(image.url, overlay);
  const shown = classifyScreen({
    screen: "teaching-feedback",
    counter,
    position,
    classes: session.classes,
    hasKeys: false,
    showsAnswer: true,
  });
  shown.put(picture, image.alt);
  return shown;
}

/** How the learning goes, where the study wants that said. */
function tellScore({ head }, { score }) {
  if (!score?.right) return;
  const row = score.in_a_row > 1 ? `, ${score.in_a_row} in a row` : "";
  head.querySelector("#counter").append(el("span", { id: "learning-score" }, ` · ${score.right} right${row}`));
}

/** Resolves when the worker goes on: by the button, by a key from anywhere, or by itself where the study wants that. */
function wentOn(go, { is_correct: isRight, auto_advance_ms: autoMs = 0, min_look_ms: leastMs }) {
  let onKey;
  const byKey = new Promise((resolve) => {
    onKey = (event) => {
      if (!goesOn(event) || go.disabled) return;
      event.preventDefault();
      resolve();
    };
    document.addEventListener("keydown", onKey);
  });
  const ways = [pressed(go), byKey];
  if (isRight && autoMs) ways.push(pause(Math.max(autoMs, leastMs)).then(inSight));
  return Promise.race(ways).finally(() => document.removeEventListener("keydown", onKey));
}

/**
 * Shows the feedback until the worker goes on; not again if this tab has shown it before.
 * @param {object} feedback
 * @param {{tab: object, overlay: object}} context
 * @param {{next: object, session: object, counter: string, shown?: object}} around the task that follows, and the screen of the
 *   question if it is still in sight
 */
export async function showFeedback(feedback, { tab, overlay }, { next, session, counter = "", shown = null }) {
  if (tab.recall(ACKNOWLEDGED) === String(feedback.position)) return;
  imagesOf(next).forEach(prefetch);
  const screen = shown ?? (await answeredScreen(feedback, { session, counter, overlay }));
  const go = showAnswer(screen, feedback);
  tellScore(screen, feedback);
  if (shown) {
    screen.title.focus({ preventScroll: true });
    settle();
  } else screen.show(screen.title);
  const attention = watchAttention();
  const seenAt = await painted();
  const going = wentOn(go, feedback);
  await pause(feedback.min_look_ms - since(seenAt));
  go.disabled = false;
  await going;
  const inSightMs = Math.max(0, since(seenAt) - attention().hiddenMs);
  tab.remember(LOOKED, JSON.stringify({ position: feedback.position, ms: inSightMs }));
  tab.remember(ACKNOWLEDGED, feedback.position);
}

/** For how long the feedback to the task before this one was in sight, as a field of this one's answer. */
export function lookedAt({ position }, { tab }) {
  const looked = JSON.parse(tab.recall(LOOKED) ?? "{}");
  return looked.position === position - 1 ? { feedback_ms: looked.ms } : {};
}
