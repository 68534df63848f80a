/** One big image and a button for each class: the question of the learning part and of the test, and the answer to it. */

import { imagesOf, loadImage, prefetch } from "./images.js";
import {
  announce, button, className, el, heading, icon, inSight, painted, pause, pressed, quietButton, screenRoot, settle, showScreen,
  since, watchAttention,
} from "./screen.js";

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
function classifyScreen({ screen, counter, said = null, position, instruction, classes, hasKeys, showsAnswer }) {
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
  right: { words: "Correct", more: " answer", sign: "icon-right" },
  both: { words: "Correct", more: " answer", sign: "icon-right" },
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
function showAnswer({ root, title, buttons, foot }, feedback) {
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
  const verdict = el("span", { id: "feedback-verdict" }, isRight ? "Correct." : "Incorrect.");
  const said = el("span", { class: "visually-hidden" }, " This one is ", className(feedback.label), ".");
  if (!isRight) said.append(" You said ", className(feedback.answer), ".");
  title.replaceChildren(icon(isRight ? "icon-right" : "icon-miss"), verdict, said);
  title.dataset.right = String(isRight);
  const go = button("feedback-continue", "Continue", { disabled: true });
  go.append(el("kbd", { class: "key is-on-accent", "aria-hidden": "true" }, "Enter"));
  foot.replaceChildren(go);
  return go;
}

/* The layout: the image gets what the window has, and every button stays in sight. */

/** Widths that the buttons may have beside the image, in rem. */
const PANEL_WIDTHS = [13, 16, 20, 25, 31, 38];
/** Of several that are as good, the widest up to this one. */
const WIDEST_WANTED = 25;
const MOST_COLUMNS = 6;
/** Below this, or this share of the height beside the buttons, an image is too small, and the buttons rather scroll. */
const SMALLEST_IMAGE_PX = 100;
const SMALLEST_SHARE = 0.35;
/** Where buttons scroll, there are two in a row of a window that is narrower, and three in any other. */
const NARROW_PX = 480;
/** What has to stay free above and below the buttons together. */
const EDGE_PX = 8;
/** An image that is smaller by less than this is as good: then the roomier buttons win. */
const AS_GOOD = 0.97;
/** Names that are broken in the middle of a word are avoided as long as the image keeps this much of its side. */
const WORTH_WHOLE_WORDS = 0.6;

/** @type {Map<string, object>} of this window and these words: looking costs a dozen layouts */
const known = new Map();

function candidates(count) {
  const most = Math.min(count, MOST_COLUMNS);
  // Two stay side by side: the left and the right arrow answer them.
  const columns = count === 2 ? [2] : Array.from({ length: most }, (_, index) => index + 1);
  const below = columns.map((number) => ({ layout: "below", columns: number, panel: 0 }));
  const beside = PANEL_WIDTHS.flatMap((panel) => columns.map((number) => ({ layout: "beside", columns: number, panel })));
  return [...below, ...beside];
}

function apply(root, { layout, columns, panel, most = null }) {
  root.dataset.layout = layout;
  root.style.setProperty("--columns", String(columns));
  root.style.setProperty("--panel", `${panel}rem`);
  if (most === null) root.style.removeProperty("--most");
  else root.style.setProperty("--most", `${most}px`);
}

const widthOfName = (button) => button.querySelector(".choice-name").getBoundingClientRect().width;

function widthInside(button) {
  const { paddingLeft, paddingRight } = getComputedStyle(button);
  return button.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) + 1;
}

const fits = ({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1;

/** The side of a square image with this candidate, whether all is in sight, and whether a name is broken within a word. */
function measure(root, { room, panel, choices }, candidate) {
  apply(root, candidate);
  const image = room.getBoundingClientRect();
  const isWhole = fits(root) && fits(choices) && panel.offsetHeight + EDGE_PX <= root.clientHeight;
  choices.classList.add("is-unbroken");
  const isBroken = [...choices.children].some((one) => widthOfName(one) > widthInside(one));
  choices.classList.remove("is-unbroken");
  return { ...candidate, side: Math.min(image.width, image.height), isWhole, isBroken };
}

const sideOf = (found) => Math.max(...found.map(({ side }) => side));

function roomiest(found) {
  const good = found.filter(({ side }) => side >= AS_GOOD * sideOf(found));
  const isRoomier = (other, one) => other.panel > one.panel && other.panel <= WIDEST_WANTED;
  return good.reduce((one, other) => (isRoomier(other, one) ? other : one));
}

/** No way to see everything at once: the buttons scroll under, or beside, an image of a fair size. */
function scrolling(root, count) {
  const { clientWidth: width, clientHeight: height } = root;
  const columns = count === 2 || width < NARROW_PX ? 2 : 3;
  const padding = 2 * parseFloat(getComputedStyle(root).paddingTop);
  if (width > height) return { layout: "beside", columns, panel: width / 2 / 16, most: height - padding };
  return { layout: "below", columns, panel: 0, most: Math.max(height - padding - SMALLEST_IMAGE_PX - 12, height / 2) };
}

function choose(root, parts) {
  const found = candidates(parts.count).map((candidate) => measure(root, parts, candidate));
  const least = { below: SMALLEST_IMAGE_PX, beside: Math.max(SMALLEST_IMAGE_PX, SMALLEST_SHARE * root.clientHeight) };
  const whole = found.filter(({ side, isWhole, layout }) => isWhole && side >= least[layout]);
  if (!whole.length) return scrolling(root, parts.count);
  const unbroken = whole.filter(({ side, isBroken }) => !isBroken && side >= WORTH_WHOLE_WORDS * sideOf(whole));
  return roomiest(unbroken.length ? unbroken : whole);
}

/**
 * Arranges a screen of an image and its buttons now and whenever its window changes.
 * @param {HTMLElement} root
 * @param {{room: HTMLElement, panel: HTMLElement, choices: HTMLElement, count: number, words: string}} parts
 */
function arrange(root, parts) {
  root.style.setProperty("--count", String(parts.count));
  const look = () => {
    const window = `${root.clientWidth}×${root.clientHeight} ${parts.words}`;
    if (!known.has(window)) known.set(window, choose(root, parts));
    apply(root, known.get(window));
  };
  look();
  new ResizeObserver(look).observe(root);
}

/* Keys that answer. Bare digits and letters can be switched off, by the study and by the worker. */

/** For as many classes as there may be, in the order of the buttons. */
const KEYS = "1234567890abcdefghij";
/** Under the two hands, for two classes. */
const HOME_KEYS = ["f", "j"];

const withModifier = ({ ctrlKey, metaKey, altKey, repeat }) => ctrlKey || metaKey || altKey || repeat;

/** What each button says about its key: arrows for two, digits and letters for more. */
function hintsFor(count, hasKeys) {
  if (count === 2) return ["←", "→"];
  return Array.from({ length: count }, (_, index) => (hasKeys ? KEYS[index].toUpperCase() : ""));
}

/** The button that a digit or a letter stands for. */
function indexOfKey(key, count) {
  const small = key.toLowerCase();
  const home = count === 2 ? HOME_KEYS.indexOf(small) : -1;
  const index = home >= 0 ? home : KEYS.indexOf(small);
  return index >= 0 && index < count ? index : null;
}

/** Where an arrow leads from a button, by where the buttons stand. */
function neighbour(buttons, from, key) {
  if (from < 0) return 0;
  const { x, y } = buttons[from].getBoundingClientRect();
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step) return Math.max(0, Math.min(buttons.length - 1, from + step));
  const isDown = key === "ArrowDown";
  const rows = buttons
    .map((button, index) => ({ index, box: button.getBoundingClientRect() }))
    .filter(({ box }) => (isDown ? box.y > y + 1 : box.y < y - 1))
    .sort((one, other) => Math.abs(one.box.y - y) - Math.abs(other.box.y - y) || Math.abs(one.box.x - x) - Math.abs(other.box.x - x));
  return rows[0]?.index ?? from;
}

/**
 * The number of the class that a key answers, or null. Of two, the arrows answer; among more, they lead from button to button.
 * @param {KeyboardEvent} event
 * @param {HTMLButtonElement[]} buttons
 * @param {boolean} hasKeys whether bare digits and letters answer
 * @returns {number|null}
 */
function answerOf(event, buttons, hasKeys) {
  if (withModifier(event) || !event.key) return null;
  const isArrow = event.key.startsWith("Arrow");
  if (isArrow && buttons.length > 2) {
    buttons[neighbour(buttons, buttons.indexOf(document.activeElement), event.key)].focus();
    event.preventDefault();
    return null;
  }
  const arrow = isArrow ? ["ArrowLeft", "ArrowRight"].indexOf(event.key) : -1;
  const index = arrow >= 0 ? arrow : hasKeys && event.key.length === 1 ? indexOfKey(event.key, buttons.length) : null;
  if (index !== null) event.preventDefault();
  return index;
}

/** Whether a key goes on from an answer that is shown: from anywhere on the page, but not from another button or a dialog. */
function goesOn(event) {
  if (withModifier(event)) return false;
  const isPress = event.key === "Enter" || event.key === " ";
  const elsewhere = event.target.closest?.("header button, a, dialog");
  return (isPress && !elsewhere) || Boolean(event.key?.startsWith("Arrow") && !event.target.closest?.("dialog"));
}


/* Feedback: correct or incorrect, with the true class beside the chosen one, in the place of the question */

const ACKNOWLEDGED = "feedback-acknowledged";
const LOOKED = "feedback-looked";

/** The screen of a question that was answered before this page was loaded. */
async function answeredScreen({ position, image }, { session, counter, overlay }) {
  const picture = await loadImage(image.url, overlay);
  const shown = classifyScreen({
    screen: "teaching-feedback",
    counter,
    position,
    classes: session.classes,
    hasKeys: false,
    showsAnswer: true,
  });
  shown.put(picture, image.alt);
  return shown;
}

/** How the learning goes, where the study wants that said. */
function tellScore({ head }, { score }) {
  if (!score?.right) return;
  const row = score.in_a_row > 1 ? `, ${score.in_a_row} in a row` : "";
  head.querySelector("#counter").append(el("span", { id: "learning-score" }, ` · ${score.right} correct${row}`));
}

/** Resolves when the worker goes on: by the button, by a key from anywhere, or by itself where the study wants that. */
function wentOn(go, { is_correct: isRight, auto_advance_ms: autoMs = 0, min_look_ms: leastMs }) {
  let onKey;
  const byKey = new Promise((resolve) => {
    onKey = (event) => {
      if (!goesOn(event) || go.disabled) return;
      event.preventDefault();
      resolve();
    };
    document.addEventListener("keydown", onKey);
  });
  const ways = [pressed(go), byKey];
  if (isRight && autoMs) ways.push(pause(Math.max(autoMs, leastMs)).then(inSight));
  return Promise.race(ways).finally(() => document.removeEventListener("keydown", onKey));
}

/**
 * Shows the feedback until the worker goes on; not again if this tab has shown it before.
 * @param {object} feedback
 * @param {{tab: object, overlay: object}} context
 * @param {{next: object, session: object, counter: string, shown?: object}} around the task that follows, and the screen of the
 *   question if it is still in sight
 */
export async function showFeedback(feedback, { tab, overlay }, { next, session, counter = "", shown = null }) {
  if (tab.recall(ACKNOWLEDGED) === String(feedback.position)) return;
  imagesOf(next).forEach(prefetch);
  const screen = shown ?? (await answeredScreen(feedback, { session, counter, overlay }));
  const go = showAnswer(screen, feedback);
  tellScore(screen, feedback);
  if (shown) {
    screen.title.focus({ preventScroll: true });
    settle();
  } else screen.show(screen.title);
  const attention = watchAttention();
  const seenAt = await painted();
  const going = wentOn(go, feedback);
  await pause(feedback.min_look_ms - since(seenAt));
  go.disabled = false;
  await going;
  const inSightMs = Math.max(0, since(seenAt) - attention().hiddenMs);
  tab.remember(LOOKED, JSON.stringify({ position: feedback.position, ms: inSightMs }));
  tab.remember(ACKNOWLEDGED, feedback.position);
}

/** For how long the feedback to the task before this one was in sight, as a field of this one's answer. */
export function lookedAt({ position }, { tab }) {
  const looked = JSON.parse(tab.recall(LOOKED) ?? "{}");
  return looked.position === position - 1 ? { feedback_ms: looked.ms } : {};
}
