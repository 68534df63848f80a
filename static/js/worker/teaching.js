/** The learning part: a question, then the answer beside the image. */

import { askForClass } from "./classify.js";
import { lookedAt, showFeedback } from "./feedback.js";
import { introduce } from "./intro.js";
import { showReferences } from "./references.js";

/** @param {import("./api.js").State} state */
export default async function takeTeachingStep(state, context) {
  const { session, task } = state;
  const counter = `Picture ${task.step} of ${task.steps}`;
  if (task.last_feedback) {
    const before = `Picture ${task.step - 1} of ${task.steps}`;
    await showFeedback(task.last_feedback, context, { next: task, session, counter: before });
  }
  if (task.step === 1) {
    await introduce(state, context);
    await showReferences(task, context);
  }
  const { answer, shown } = await askForClass(
    { screen: "teaching", counter, task, classes: session.classes, showsAnswer: true },
    context,
  );
  const reply = await context.api.answer({ position: task.position, ...answer, ...lookedAt(task, context) });
  if (reply.feedback) await showFeedback(reply.feedback, context, { next: reply.task, session, counter, shown });
  return reply;
}
