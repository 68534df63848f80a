/** The learning part: a question, then the answer beside the image. */

import { askForClass } from "./classify.js";
import { showFeedback } from "./feedback.js";
import { introduce } from "./intro.js";

/** @param {import("./api.js").State} state */
export default async function takeTeachingStep(state, context) {
  const { session, task } = state;
  if (task.last_feedback) await showFeedback(task.last_feedback, context, task);
  if (task.step === 1) await introduce(state, context);
  const answer = await askForClass({
    screen: "teaching",
    counter: `Picture ${task.step} of ${task.steps}`,
    task,
    classes: session.classes,
  });
  const reply = await context.api.answer({ position: task.position, ...answer });
  if (reply.feedback) await showFeedback(reply.feedback, context, reply.task);
  return reply;
}
