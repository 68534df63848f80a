/** The last pages: thank you, a session that is over, an address that leads nowhere. */

import { copyText } from "../clipboard.js";
import { announce, button, el, heading, icon, quietButton, screenRoot, showScreen } from "./dom.js";

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
    el("span", {}, "of your answers in the test were right."),
  );
}

function laterLine() {
  const when = "How many of your answers in the test were right is shown here once the study has closed.";
  const how = "To see it then, open the study’s link again or keep the address of this page.";
  return el("p", { class: "soft", id: "score-follows" }, `${when} ${how}`);
}

function comparisonLine({ others, below }) {
  const words = `${below} of the ${others} others who have finished had fewer right answers.`;
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
        : "Your session has ended, and everything you did here has been deleted. Thank you for your time.",
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
