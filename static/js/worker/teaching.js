/** The learning part: a question, then the answer beside the image. */

import { askForClass, lookedAt, showFeedback } from "./classify.js";
import { loadImages } from "./images.js";
import { introduce } from "./pages.js";
import { button, className, el, heading, pressed, screenRoot, showScreen } from "./screen.js";

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

/* One picture of each class with its name, before the learning begins, in studies that want that */

const SEEN = "references-seen";

function card({ name, description }, picture) {
  picture.alt = "";
  return el(
    "li",
    { class: "reference" },
    picture,
    el("strong", {}, className(name)),
    description ? el("span", { class: "soft" }, description) : null,
  );
}

/** @param {{references?: {name: string, description: string, image: {url: string, alt: string}}[]}} task */
async function showReferences({ references = [] }, { tab, overlay }) {
  if (!references.length || tab.recall(SEEN)) return;
  const watcher = { ready() {}, failed: (tryNow) => overlay.failed(0, tryNow), recovered: () => overlay.recovered() };
  const pictures = await loadImages(references.map(({ image }) => image.url), watcher);
  const go = button("references-continue", "Continue");
  const list = el("ul", { class: "references" }, ...references.map((one, index) => card(one, pictures[index])));
  list.style.setProperty("--count", String(references.length));
  showScreen(
    screenRoot(
      "references",
      { className: "is-calm is-references" },
      heading("This is what they look like"),
      el("p", { class: "lead" }, "One picture of each. Others of the same category look different: you will see many of them."),
      list,
      el("div", { class: "actions is-sticky" }, go),
    ),
  );
  await pressed(go);
  tab.remember(SEEN);
}
