/** The calm pages around the tasks: the check of the device, the introduction of each part, and the last pages. */

import { copyText } from "../clipboard.js";
import { hasRoomFor } from "./board.js";
import { imagesOf, loadImages, prefetch } from "./images.js";
import {
  announce, button, className, counted, el, heading, icon, pressed, quietButton, screenRoot, showScreen,
} from "./screen.js";

/* The check of the device: a window large enough, and images that load */

const CHECKED = "device-checked";
const PICTURES_FAULT =
  "They have not loaded yet. Check your connection, or turn off blockers for this page; we will keep trying.";

function checkRow(id, iconName, title) {
  const words = el("span", { class: "check-words" });
  const mark = el("span", { class: "check-mark" }, icon("icon-wait"));
  const row = el(
    "li",
    { class: "check", id, "data-state": "waiting" },
    icon(iconName, "icon check-icon"),
    el("div", {}, el("strong", {}, title), words),
    mark,
  );
  return {
    row,
    tell(state, text) {
      row.dataset.state = state;
      words.textContent = text;
      mark.replaceChildren(icon({ good: "icon-right", bad: "icon-miss", waiting: "icon-wait" }[state]));
    },
  };
}

/** What an image and its buttons need at least; below it, a page is for reading and not for looking. */
const SMALLEST_WINDOW = { width: 240, height: 200 };

/** Whether a task can be shown whole in this window. */
function hasRoom({ kind, longest }) {
  if (kind === "memory") return hasRoomFor(longest);
  return window.innerWidth >= SMALLEST_WINDOW.width && window.innerHeight >= SMALLEST_WINDOW.height;
}

function windowFault(task) {
  if (hasRoom(task)) return null;
  const what = task.kind === "memory" ? `${task.longest} pictures at once` : "the pictures";
  return (
    `It is ${window.innerWidth} by ${window.innerHeight}, too small to show ${what}. ` +
    "Make the window larger, zoom out, or turn your phone."
  );
}

/** The check itself: `look` says again whether the worker may go on, and `done` resolves when that has happened. */
function showCheck(task, { rows, isReady }) {
  const size = checkRow("check-window", "icon-window", "Your window");
  const retry = quietButton("check-retry", "Try again", { hidden: true });
  const go = button("check-continue", "Continue", { disabled: true });

  function look() {
    const fault = windowFault(task);
    size.tell(fault ? "bad" : "good", fault ?? "It is large enough.");
    const mayGo = fault === null && isReady();
    if (mayGo === go.disabled) {
      go.disabled = !mayGo;
      announce(mayGo ? "Everything is ready." : fault ?? "");
      if (mayGo) go.focus({ preventScroll: true });
    }
  }

  showScreen(
    screenRoot(
      "check",
      { className: "is-calm" },
      heading("A quick check of your screen"),
      el("p", { class: "lead" }, "This makes sure you will see every picture properly."),
      el("ul", { class: "checks" }, size.row, ...rows),
      el("div", { class: "actions" }, go, retry),
    ),
  );
  look();
  window.addEventListener("resize", look);
  const done = pressed(go).then(() => window.removeEventListener("resize", look));
  return { look, retry, done };
}

/**
 * Shown once after consent. Later it stays out of sight unless the window is too small, as after a
 * change of device.
 * @param {import("./api.js").State} state
 * @param {{tab: object}} context
 * @param {{isFirst: boolean}} options
 */
export async function checkDevice({ task }, { tab }, { isFirst }) {
  const mustShow = isFirst && !tab.recall(CHECKED);
  if (!mustShow && hasRoom(task)) return;
  const pictures = checkRow("check-pictures", "icon-picture", "Pictures");
  let areLoaded = false;
  const { look, retry, done } = showCheck(task, { rows: [pictures.row], isReady: () => areLoaded });
  pictures.tell("waiting", "Loading a few of them …");
  const urls = imagesOf(task);
  loadImages(urls, {
    ready: (count) => {
      if (count < urls.length) return;
      areLoaded = true;
      pictures.tell("good", "They load correctly.");
      look();
    },
    failed: (tryNow) => {
      pictures.tell("bad", PICTURES_FAULT);
      announce("The pictures have not loaded yet.");
      retry.hidden = false;
      retry.onclick = tryNow;
    },
    recovered: () => {
      retry.hidden = true;
    },
  });
  await done;
  tab.remember(CHECKED);
}

/** Before the pictures of a round are shown: a window that has become too small for them, or was turned, is told again. */
export async function waitForRoom(task) {
  const round = { ...task, longest: task.length };
  if (!hasRoom(round)) await showCheck(round, { rows: [], isReady: () => true }).done;
}

/* The introduction of each part, shown once when its first task is reached */

/** What is said of each part, from the fields of its first task. */
const INTRODUCTIONS = {
  memory: ({ trials, is_practice: isPractice }) => ({
    title: "How many pictures can you remember?",
    sentence: ["A few pictures appear for a few seconds. Remember their order, then put them back in that order."],
    facts: [
      isPractice ? "You start with a practice round that does not count." : null,
      `${isPractice ? "Then there are" : "There are"} ${counted(trials, "round")}. ` +
        "Each starts with a few pictures and adds one until you get the order wrong.",
      "Everyone gets it wrong at some point. Please do it from memory, without notes.",
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
  if (classes.length > 2) return [`which of the ${classes.length} categories it belongs to`];
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

/* The last pages: thank you, a session that is over, an address that leads nowhere */

function completionCode(code) {
  const field = el("code", { class: "code", id: "completion-code" }, code);
  const words = el("span", {}, "Copy");
  const copy = quietButton("copy-code", words);
  copy.prepend(icon("icon-copy"));
  copy.addEventListener("click", async () => {
    const isCopied = await copyText(code, field);
    words.textContent = isCopied ? "Copied" : "Please copy it by hand";
    announce(words.textContent);
  });
  return el(
    "div",
    { class: "ticket" },
    el("div", { class: "ticket-words" }, el("span", { class: "eyebrow" }, "Your completion code"), field),
    copy,
  );
}

function returnLink(address) {
  const url = new URL(address, location.href);
  if (!["https:", "http:"].includes(url.protocol)) return null;
  return el(
    "div",
    { class: "actions" },
    el("a", { class: "button", id: "return-link", href: url.href, rel: "noreferrer" }, "Finish and return"),
    el("p", { class: "soft" }, `This takes you back to ${url.host}.`),
  );
}

function scoreLine({ evaluation_accuracy: accuracy }) {
  return el(
    "p",
    { class: "score", id: "score" },
    el("strong", {}, `${Math.round(accuracy * 100)} %`),
    el("span", {}, "of your answers in the test were correct."),
  );
}

function laterLine() {
  const when = "Your test score will appear here once the study has closed.";
  const how = "To see it then, open the study’s link again or keep the address of this page.";
  return el("p", { class: "soft", id: "score-follows" }, `${when} ${how}`);
}

function comparisonLine({ others, below }) {
  const words = `${below} of the ${others} others who have finished had fewer correct answers.`;
  return el("p", { class: "soft", id: "comparison" }, words);
}

/** Hands the finished task in where the worker came from, from inside its frame. */
function submissionForm({ url, fields }) {
  const inputs = Object.entries(fields).map(([name, value]) => el("input", { type: "hidden", name, value }));
  const send = el("button", { class: "button", id: "submit-task", type: "submit" }, "Submit the task");
  return el("form", { class: "actions", method: "post", action: url, id: "submission" }, ...inputs, send);
}

/** For every end: by what the researchers know this worker, and whom to write to. */
function reference() {
  const { code, contact } = document.getElementById("stage").dataset;
  const words = `Your reference, if you contact the researchers: ${code}`;
  return el("p", { class: "soft", id: "reference" }, contact ? `${words}. Write to ${contact}.` : words);
}

const RETURN_THE_TASK = "If you came from a recruitment site, please return the task there.";

/** What is said at each end of a session. */
const ENDS = {
  completed: {
    screen: "done",
    title: "Thank you",
    lead: () => "You have finished the study, and every answer is safely stored.",
    next: ({ return_url: url, completion_code: code, submission }) => {
      if (submission) return "Please submit the task with the button below, so that it counts.";
      if (url) return "Please use the button below to finish, so that your participation is recorded.";
      return code ? "Please enter this code on the site you came from." : "You may close this page now.";
    },
  },
  declined: {
    screen: "declined",
    title: "That is fine",
    lead: () => "You chose not to take part, and no answers are kept. Thank you for your time.",
    next: () => "You may close this page now.",
  },
  withdrawn: {
    screen: "withdrawn",
    title: "You have withdrawn",
    lead: ({ keeps_answers: isKept }) =>
      isKept
        ? "Your session has ended, and the answers you had given are kept. Thank you for your time."
        : "Your session has ended, and all your answers have been deleted. Thank you for your time.",
    next: () => RETURN_THE_TASK,
  },
};

/** @param {import("./api.js").State} state */
export function showDone({ task }) {
  const end = ENDS[task.outcome];
  showScreen(
    screenRoot(
      end.screen,
      { className: "is-calm is-done" },
      icon("art-teaching", "art is-teaching"),
      heading(end.title),
      el("p", { class: "lead" }, end.lead(task)),
      task.score ? scoreLine(task.score) : null,
      task.score_follows ? laterLine() : null,
      task.comparison ? comparisonLine(task.comparison) : null,
      task.bonus ? el("p", { class: "soft", id: "bonus" }, task.bonus) : null,
      task.completion_code ? completionCode(task.completion_code) : null,
      el("p", { id: "next-step" }, end.next(task)),
      task.submission ? submissionForm(task.submission) : task.return_url ? returnLink(task.return_url) : null,
      reference(),
    ),
  );
}

function showWords(screen, title, sentence, ...more) {
  showScreen(
    screenRoot(
      screen,
      { className: "is-calm is-done" },
      heading(title),
      el("p", { class: "lead" }, sentence),
      ...more,
      reference(),
    ),
  );
}

export function showOver() {
  showWords(
    "over",
    "This session is over",
    "It was open for too long without an answer, so it has ended. The answers you gave are stored.",
    el(
      "p",
      { class: "soft" },
      "If you came from a recruitment site, please return the task there or write to the researchers.",
    ),
  );
}

export function showNotFound() {
  showWords(
    "not-found",
    "We do not know this link",
    "Please check that it is complete, or open the study’s link again: you will continue where you stopped.",
  );
}

export function showProblem() {
  const reload = button("problem-reload", "Reload the page");
  reload.addEventListener("click", () => location.reload());
  showWords(
    "problem",
    "Something went wrong on this page",
    "Your answers are safe. Please reload the page: you will continue where you stopped.",
    el("div", { class: "actions" }, reload),
  );
}
