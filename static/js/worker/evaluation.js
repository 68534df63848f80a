/** The test: the same question without an answer, one image straight after the other. */

import { askForClass, lookedAt, showFeedback } from "./classify.js";
import { prefetch } from "./images.js";
import { introduce } from "./pages.js";
import { button, el, heading, pause, pressed, screenRoot, showScreen } from "./screen.js";

/** How long the pressed button stays in sight, so that nobody presses twice. */
const PRESS_SEEN_MS = 140;

/** Said of the effort, never of the accuracy, once so much of the test is done. */
const EFFORT = [
  [0.75, "Three quarters done: nearly there."],
  [0.5, "Halfway. Thank you for looking."],
  [0.25, "A quarter done. Keep it up."],
];

/** The words for the first picture after a quarter of the test; empty for any other picture. */
function effortAt({ item, items }) {
  const isFirstAfter = (share) => item - 1 >= share * items && item - 2 < share * items;
  return EFFORT.find(([share]) => items >= 8 && isFirstAfter(share)) ?? [0, ""];
}

async function offerBreak({ item, position }, { tab }) {
  const seen = `break-${item}`;
  if (tab.recall(seen)) return;
  const go = button("break-continue", "Continue");
  showScreen(
    screenRoot(
      "break",
      { position, className: "is-calm is-centred" },
      heading("Half of the test is done"),
      el("p", { class: "lead" }, "Rest your eyes for a moment if you like. Your place is kept, and nothing is timed here."),
      el("div", { class: "actions" }, go),
    ),
  );
  await pressed(go);
  tab.remember(seen);
}

/** @param {import("./api.js").State} state */
export default async function takeEvaluationItem(state, context) {
  const { session, task } = state;
  if (task.last_feedback) await showFeedback(task.last_feedback, context, { next: task, session });
  if (task.item === 1) await introduce(state, context);
  const counter = `Picture ${task.item} of ${task.items}`;
  const [share, effort] = effortAt(task);
  if (share === 0.5 && session.page.offers_breaks) await offerBreak(task, context);
  const said = session.page.shows_effort ? effort : null;
  const asking = askForClass(
    { screen: "evaluation", counter, said, task, classes: session.classes, showsAnswer: false },
    context,
  );
  (task.prefetch ?? []).forEach(prefetch);
  const { answer } = await asking;
  const [reply] = await Promise.all([
    context.api.answer({ position: task.position, ...answer, ...lookedAt(task, context) }),
    pause(PRESS_SEEN_MS),
  ]);
  return reply;
}
