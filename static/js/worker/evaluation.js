/** The test: the same question without an answer, one image straight after the other. */

import { askForClass } from "./classify.js";
import { showFeedback } from "./feedback.js";
import { prefetch } from "./images.js";
import { introduce } from "./intro.js";
import { pause } from "./timing.js";

/** How long the pressed button stays in sight, so that nobody presses twice. */
const PRESS_SEEN_MS = 140;

/** @param {import("./api.js").State} state */
export default async function takeEvaluationItem(state, context) {
  const { session, task } = state;
  if (task.last_feedback) await showFeedback(task.last_feedback, context, task);
  if (task.item === 1) await introduce(state, context);
  const asking = askForClass({
    screen: "evaluation",
    counter: `Picture ${task.item} of ${task.items}`,
    task,
    classes: session.classes,
  });
  (task.prefetch ?? []).forEach(prefetch);
  const answer = await asking;
  const [reply] = await Promise.all([
    context.api.answer({ position: task.position, ...answer }),
    pause(PRESS_SEEN_MS),
  ]);
  return reply;
}
