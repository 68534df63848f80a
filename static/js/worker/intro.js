/** One calm sentence before each part, shown once when its first task is reached. */

import { className } from "./classify.js";
import { button, counted, el, heading, icon, pressed, screenRoot, showScreen } from "./dom.js";
import { imagesOf, prefetch } from "./images.js";

/** What is said of each part, from the fields of its first task. */
const INTRODUCTIONS = {
  memory: ({ trials, is_practice: isPractice }) => ({
    title: "How much can you keep in mind?",
    sentence: ["A few pictures appear for a few seconds. Remember their order, then put them back in that order."],
    facts: [
      isPractice ? "You start with a practice round that does not count." : null,
      `${isPractice ? "Then come" : "There are"} ${counted(trials, "round")}: ` +
        "each grows by one picture until you get the order wrong.",
      "Everybody gets it wrong at some point. Please do it from memory, without notes.",
    ],
    button: isPractice ? "Start the practice" : "Start",
  }),
  teaching: ({ steps }, classes) => ({
    title: "Learn to tell them apart",
    sentence: ["Look at each picture, say ", ...whatItIs(classes), ", and see the answer straight away."],
    facts: [
      `There are ${counted(steps, "picture")}. At first you can only guess, and that is fine.`,
      "Take as long as you like over each answer you see: looking closely is how you learn.",
    ],
    keys: true,
    button: "Start learning",
  }),
  evaluation: ({ items }) => ({
    title: "Now show what you have learned",
    sentence: [
      `You will see ${counted(items, "new picture")}, one at a time, and choose as before, `,
      "but without seeing the answers.",
    ],
    facts: [
      "The next picture follows straight away.",
      "You cannot go back, so answer as well as you can and move on.",
    ],
    keys: true,
    button: "Start the test",
  }),
};

const BREAK = "Take a short break before you start if you like: your place is kept.";

function whatItIs(classes) {
  if (classes.length > 2) return [`which of the ${classes.length} kinds it is`];
  const [first, second] = classes.map((name) => className(name));
  return ["whether it is ", first, " or ", second];
}

const key = (name) => el("kbd", { class: "key" }, name);

/** Which keys answer: for two classes each of them, for more the rule. */
function keyHint(classes, hasKeys) {
  const way = (arrow, digit, name) =>
    el("span", {}, key(arrow), ...(hasKeys ? [" or ", key(digit)] : []), " for ", className(name));
  if (classes.length === 2) {
    const [first, second] = classes;
    return el("li", { class: "only-with-keys" }, "On a keyboard: ", way("←", "1", first), ", ", way("→", "2", second), ".");
  }
  const digits = hasKeys ? [", or the key that is on the button"] : [];
  return el("li", { class: "only-with-keys" }, "On a keyboard: the arrow keys and ", key("Enter"), ...digits, ".");
}

/**
 * @param {import("./api.js").State} state
 * @param {{tab: object, keys: object}} context
 */
export async function introduce({ session, task }, { tab, keys }) {
  const seen = `introduced-${task.kind}`;
  if (tab.recall(seen)) return;
  const words = INTRODUCTIONS[task.kind](task, session.classes);
  const begin = button("intro-begin", words.button);
  const facts = words.facts.filter(Boolean).map((fact) => el("li", {}, fact));
  if (session.page.offers_breaks && task.kind !== session.stages[0].name) facts.push(el("li", {}, BREAK));
  if (words.keys) facts.push(keyHint(session.classes, keys.areOn()));
  imagesOf(task).forEach(prefetch);
  showScreen(
    screenRoot(
      `intro-${task.kind}`,
      { className: "is-calm is-intro" },
      icon(`art-${task.kind}`, `art is-${task.kind}`),
      heading(words.title),
      el("p", { class: "lead" }, ...words.sentence),
      el("ul", { class: "intro-facts" }, ...facts),
      el("div", { class: "actions" }, begin),
    ),
  );
  await pressed(begin);
  tab.remember(seen);
}
