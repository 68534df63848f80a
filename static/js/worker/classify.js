/** One big image and two big buttons: the question of the learning part and of the test. */

import { announce, el, heading, icon, quietButton, screenRoot, showScreen } from "./dom.js";
import { loadImage } from "./images.js";
import { painted, since } from "./timing.js";

/** Sooner than this nobody has seen the image: it is a press meant for the one before. */
const TOO_SOON_MS = 150;

const KEYS = { ArrowLeft: 0, 1: 0, f: 0, ArrowRight: 1, 2: 1, j: 1 };
const HINTS = ["←", "→"];

/** The image on its mount, as large as the room allows. */
export function specimen(picture, alt) {
  picture.alt = alt;
  picture.className = "specimen-image";
  const frame = el("figure", { class: "specimen" }, picture);
  frame.style.setProperty("--ratio", String(picture.naturalWidth / picture.naturalHeight || 1));
  return frame;
}

function classButton(name, index) {
  return el(
    "button",
    { class: "choice", id: `choice-${index + 1}`, type: "button", "data-label": name, disabled: true },
    el("span", { class: "choice-name" }, name),
    el("kbd", { class: "key", "aria-hidden": "true" }, HINTS[index]),
  );
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

/** Resolves with the first answer by button or key, and takes no second one. */
function firstAnswer(buttons, paintedAt) {
  return new Promise((resolve) => {
    const take = (index) => {
      const responseMs = since(paintedAt);
      if (responseMs < TOO_SOON_MS) return;
      document.removeEventListener("keydown", onKey);
      buttons.forEach((button, other) => {
        button.setAttribute("aria-disabled", "true");
        button.classList.toggle("is-chosen", other === index);
      });
      resolve({ label: buttons[index].dataset.label, response_ms: responseMs });
    };
    const onKey = (event) => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      const index = KEYS[event.key] ?? KEYS[event.key?.toLowerCase()];
      if (index === undefined) return;
      event.preventDefault();
      take(index);
    };
    document.addEventListener("keydown", onKey);
    buttons.forEach((button, index) => {
      button.addEventListener("keydown", (event) => event.repeat && event.preventDefault());
      button.addEventListener("click", () => take(index));
    });
  });
}

/** An attention check says what to choose; every other picture asks. */
function question(instruction) {
  const words = instruction ? `Attention check: choose “${instruction}” for this picture` : "Which one is it?";
  return heading(words, { class: "panel-title", id: "question", "data-instruction": instruction });
}

/**
 * Shows the image and waits for the answer; the clock starts at the painted image.
 * @param {{screen: string, counter: string, task: import("./api.js").Task, classes: string[]}} question
 * @returns {Promise<{label: string, response_ms: number}>}
 */
export async function askForClass({ screen, counter, task, classes }) {
  const buttons = classes.map(classButton);
  const room = el("div", { class: "specimen-room" });
  const title = question(task.instruction);
  const panel = el(
    "div",
    { class: "panel" },
    el("p", { class: "eyebrow", id: "counter" }, counter),
    title,
    el("div", { class: "choices", role: "group", "aria-labelledby": "question" }, ...buttons),
  );
  title.setAttribute("aria-describedby", "counter");
  const root = screenRoot(screen, { position: task.position, className: "is-classify" }, room, panel);
  const loading = loadInto(room, task.image);
  showScreen(root);
  room.replaceChildren(specimen(await loading, task.image.alt));
  buttons.forEach((button) => {
    button.disabled = false;
  });
  return firstAnswer(buttons, await painted());
}

/** The small things a feedback needs: the mark and the words of right and wrong. */
export function verdict(isRight) {
  const words = isRight ? "Right" : "Not this time";
  return {
    words,
    element: el(
      "h1",
      { class: "verdict", id: "feedback-verdict", tabindex: -1, "data-right": String(isRight) },
      icon(isRight ? "icon-right" : "icon-miss"),
      words,
    ),
  };
}
