/** One calm sentence before each part, shown once when its first task is reached. */

import { button, counted, el, heading, icon, pressed, screenRoot, showScreen } from "./dom.js";
import { imagesOf, prefetch } from "./images.js";

/** What is said of each part, from the fields of its first task. */
const INTRODUCTIONS = {
  memory: ({ trials, is_practice: isPractice }) => ({
    title: "How much can you keep in mind?",
    sentence: "A few pictures appear for a few seconds; remember their order, then put them back in it.",
    facts: [
      isPractice ? "You start with a practice round that does not count." : null,
      `${isPractice ? "Then come" : "There are"} ${counted(trials, "round")}: ` +
        "each grows by one picture until the order slips.",
      "Everybody slips at some point. Just do it from memory, without notes.",
    ],
    button: isPractice ? "Start the practice" : "Start",
  }),
  teaching: ({ steps }, [first, second]) => ({
    title: "Learn to tell them apart",
    sentence: `Look at each picture, say whether it is ${first} or ${second}, and see the answer at once.`,
    facts: [
      `There are ${counted(steps, "picture")}. At first you can only guess, and that is fine.`,
      "Take the time you like with each answer you see: looking closely is how you learn.",
    ],
    keys: true,
    button: "Start learning",
  }),
  evaluation: ({ items }) => ({
    title: "Now show what you have learned",
    sentence:
      `You see ${counted(items, "new picture")}, one at a time, and choose as before; ` +
      "the answers are not shown now.",
    facts: [
      "One picture follows the other at once.",
      "You cannot go back, so answer as well as you can and go on.",
    ],
    keys: true,
    button: "Start the test",
  }),
};

function keyHint([first, second]) {
  const key = (name) => el("kbd", { class: "key" }, name);
  return el(
    "li",
    { class: "only-with-keys" },
    "On a keyboard: ",
    el("span", { class: "nowrap" }, key("←"), " or ", key("1"), ` for ${first}`),
    ", ",
    el("span", { class: "nowrap" }, key("→"), " or ", key("2"), ` for ${second}.`),
  );
}

/**
 * @param {import("./api.js").State} state
 * @param {{tab: object}} context
 */
export async function introduce({ session, task }, { tab }) {
  const seen = `introduced-${task.kind}`;
  if (tab.recall(seen)) return;
  const words = INTRODUCTIONS[task.kind](task, session.classes);
  const begin = button("intro-begin", words.button);
  const facts = words.facts.filter(Boolean).map((fact) => el("li", {}, fact));
  if (words.keys) facts.push(keyHint(session.classes));
  imagesOf(task).forEach(prefetch);
  showScreen(
    screenRoot(
      `intro-${task.kind}`,
      { className: "is-calm is-intro" },
      icon(`art-${task.kind}`, `art is-${task.kind}`),
      heading(words.title),
      el("p", { class: "lead" }, words.sentence),
      el("ul", { class: "intro-facts" }, ...facts),
      el("div", { class: "actions" }, begin),
    ),
  );
  await pressed(begin);
  tab.remember(seen);
}
