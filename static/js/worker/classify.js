/** One big image and a button for each class: the question of the learning part and of the test, and the answer to it. */

import { arrange } from "./arrangement.js";
import { announce, button, el, heading, icon, quietButton, screenRoot, showScreen } from "./dom.js";
import { loadImage } from "./images.js";
import { answerOf, hintsFor } from "./keys.js";
import { settle } from "./settling.js";
import { painted, since } from "./timing.js";

/** Names that are longer need smaller letters, so that they can be read in one look. */
const LONG_NAME = 24;
const VERY_LONG_NAME = 40;
/** With more classes every line is needed for buttons. */
const MOST_ROOMY = 3;

/** The image on its mount, as large as the room allows. */
function specimen(picture, alt) {
  picture.alt = alt;
  picture.className = "specimen-image";
  const frame = el("figure", { class: "specimen" }, picture);
  frame.style.setProperty("--ratio", String(picture.naturalWidth / picture.naturalHeight || 1));
  return frame;
}

/** A class by its name, in the direction of its own script. */
export function className(name, attributes = {}) {
  return el("bdi", attributes, name);
}

function classButton(name, index, hint) {
  return el(
    "button",
    { class: "choice", id: `choice-${index + 1}`, type: "button", "data-label": name, disabled: true },
    className(name, { class: "choice-name" }),
    hint ? el("kbd", { class: "key", "aria-hidden": "true" }, hint) : null,
  );
}

function sizeOf(names) {
  const longest = Math.max(...names.map((name) => name.length));
  if (longest > VERY_LONG_NAME) return "very-long";
  return longest > LONG_NAME ? "long" : "short";
}

function loadInto(room, image) {
  const message = el("p", { class: "soft" }, "The picture is loading …");
  const retry = quietButton("image-retry", "Try again", { hidden: true });
  const waiting = el("div", { class: "specimen-wait" }, message, retry);
  const late = setTimeout(() => room.replaceChildren(waiting), 300);
  return loadImage(image.url, {
    failed(_waitMs, tryNow) {
      message.textContent = "The picture did not load. Please check your connection; we will keep trying.";
      announce(message.textContent);
      retry.hidden = false;
      retry.onclick = tryNow;
    },
    recovered: () => clearTimeout(late),
  });
}

/** An attention check says what to choose; every other picture asks. */
function question(instruction) {
  const title = heading("", { class: "panel-title", id: "question", "data-instruction": instruction });
  if (instruction) title.append("Attention check: choose “", className(instruction), "” for this picture");
  else title.append("Which one is it?");
  return title;
}

/**
 * A screen with an image and its buttons. Where an answer is shown later, the place for going on is there from the start, so
 * that nothing moves.
 * @param {{screen: string, counter: string, said?: string|null, position: number, instruction?: string|null,
 *   classes: string[], hasKeys: boolean, showsAnswer: boolean}} parts
 */
export function classifyScreen({ screen, counter, said = null, position, instruction, classes, hasKeys, showsAnswer }) {
  const hints = hintsFor(classes.length, hasKeys);
  const buttons = classes.map((name, index) => classButton(name, index, hints[index]));
  const room = el("div", { class: "specimen-room" });
  const title = question(instruction);
  const foot = showsAnswer ? el("div", { class: "panel-foot" }) : null;
  const choices = el(
    "div",
    { class: "choices", role: "group", "aria-labelledby": "question", "data-names": sizeOf(classes) },
    ...buttons,
  );
  const lines = el("div", { class: "panel-said" }, el("p", { class: "eyebrow", id: "counter" }, counter));
  if (said !== null) lines.append(el("p", { class: "soft", id: "effort" }, said));
  const head = el("div", { class: "panel-head" }, lines, title);
  const panel = el("div", { class: classes.length > MOST_ROOMY ? "panel is-tight" : "panel" }, head, choices, foot);
  title.setAttribute("aria-describedby", "counter");
  const root = screenRoot(screen, { position, className: "is-classify" }, room, panel);
  const words = [screen.split("-")[0], instruction ?? "", said === null, ...classes].join(" ");
  return {
    root, room, panel, head, title, choices, buttons, foot,
    show(focus = null) {
      showScreen(root, focus);
      arrange(root, { room, panel, choices, count: classes.length, words });
    },
    put: (picture, alt) => room.replaceChildren(specimen(picture, alt)),
  };
}

/** Resolves with the first answer by button or key, and takes no second one. */
function firstAnswer(buttons, paintedAt, hasKeys) {
  return new Promise((resolve) => {
    const take = (index) => {
      const responseMs = since(paintedAt);
      document.removeEventListener("keydown", onKey);
      buttons.forEach((one, other) => {
        one.setAttribute("aria-disabled", "true");
        one.classList.toggle("is-chosen", other === index);
      });
      resolve({ label: buttons[index].dataset.label, response_ms: responseMs });
    };
    const onKey = (event) => {
      const index = answerOf(event, buttons, hasKeys());
      if (index !== null) take(index);
    };
    document.addEventListener("keydown", onKey);
    buttons.forEach((one, index) => {
      one.addEventListener("keydown", (event) => event.repeat && event.preventDefault());
      one.addEventListener("click", () => one.getAttribute("aria-disabled") === "true" || take(index));
    });
  });
}

/**
 * Shows the image and waits for the answer; the clock starts at the painted image.
 * @param {{screen: string, counter: string, said?: string|null, task: import("./api.js").Task, classes: string[],
 *   showsAnswer: boolean}} asked
 * @param {{keys: object}} context
 * @returns {Promise<{answer: {label: string, response_ms: number}, shown: object}>}
 */
export async function askForClass({ screen, counter, said = null, task, classes, showsAnswer }, { keys }) {
  const { position, instruction, image } = task;
  const hasKeys = keys.areOn();
  const shown = classifyScreen({ screen, counter, said, position, instruction, classes, hasKeys, showsAnswer });
  const loading = loadInto(shown.room, image);
  shown.show();
  shown.put(await loading, image.alt);
  // The buttons take a press once the image has been in sight.
  settle();
  shown.buttons.forEach((one) => {
    one.disabled = false;
  });
  return { answer: await firstAnswer(shown.buttons, await painted(), () => keys.areOn()), shown };
}

/** What a button says when the answer is known. */
const MARKS = {
  right: { words: "Right", more: " answer", sign: "icon-right" },
  both: { words: "Right", more: ", as you said", sign: "icon-right" },
  wrong: { words: "You said", more: " this", sign: "icon-miss" },
};

function markWith({ words, more, sign }) {
  return el("span", { class: "choice-mark" }, icon(sign), el("span", {}, words, el("span", { class: "more" }, more)));
}

function markOf(name, { label, answer }) {
  if (name === label) return label === answer ? "both" : "right";
  return name === answer ? "wrong" : null;
}

/** Turns the question into its answer, in place: the right class and the chosen one marked by colour, sign and words. */
export function showAnswer({ root, title, buttons, foot }, feedback) {
  const isRight = feedback.is_correct;
  root.dataset.screen = "teaching-feedback";
  buttons.forEach((one) => {
    const mark = markOf(one.dataset.label, feedback);
    one.disabled = false;
    one.setAttribute("aria-disabled", "true");
    one.dataset.mark = mark ?? "other";
    if (mark) one.append(markWith(MARKS[mark]));
    if (one.dataset.label !== feedback.label) return;
    one.querySelector(".choice-name").id = "feedback-label";
    one.scrollIntoView({ block: "nearest" });
  });
  const verdict = el("span", { id: "feedback-verdict" }, isRight ? "Right" : "Not this time");
  const said = el("span", { class: "visually-hidden" }, ". This one is ", className(feedback.label), ".");
  if (!isRight) said.append(" You said ", className(feedback.answer), ".");
  title.replaceChildren(icon(isRight ? "icon-right" : "icon-miss"), verdict, said);
  title.dataset.right = String(isRight);
  const go = button("feedback-continue", "Continue", { disabled: true });
  go.append(el("kbd", { class: "key is-on-accent", "aria-hidden": "true" }, "Enter"));
  foot.replaceChildren(go);
  return go;
}
