/** Right or wrong, with the true label beside the image. */

import { announce, button, el, pressed, screenRoot, showScreen } from "./dom.js";
import { specimen, verdict } from "./classify.js";
import { imagesOf, loadImage, prefetch } from "./images.js";
import { pause } from "./timing.js";

const ACKNOWLEDGED = "feedback-acknowledged";

function yourAnswer({ is_correct: isRight, answer }) {
  return isRight ? null : el("p", { class: "soft" }, `You said ${answer}.`);
}

function labelSlip({ label }) {
  return el(
    "p",
    { class: "slip" },
    el("span", { class: "slip-lead" }, "This one is"),
    el("strong", { class: "slip-name", id: "feedback-label" }, label),
  );
}

/** Shows the feedback until the worker goes on; not again if this tab has shown it before. */
export async function showFeedback(feedback, { tab, overlay }, next) {
  if (tab.recall(ACKNOWLEDGED) === String(feedback.position)) return;
  imagesOf(next).forEach(prefetch);
  const picture = await loadImage(feedback.image.url, overlay);
  const { words, element } = verdict(feedback.is_correct);
  const mustLook = feedback.min_look_ms > 0;
  const go = button("feedback-continue", "Continue", {
    "aria-describedby": "feedback-verdict feedback-label",
    disabled: mustLook,
  });
  go.append(el("kbd", { class: "key is-on-accent", "aria-hidden": "true" }, "Enter"));
  const panel = el(
    "div",
    { class: "panel is-answer" },
    el("div", { class: "verdict-row" }, element, yourAnswer(feedback)),
    labelSlip(feedback),
    el("div", { class: "actions" }, go),
  );
  const room = el("div", { class: "specimen-room" }, specimen(picture, feedback.image.alt));
  showScreen(
    screenRoot("teaching-feedback", { position: feedback.position, className: "is-classify" }, room, panel),
    mustLook ? element : go,
  );
  announce(`${words}. This one is ${feedback.label}.`);
  if (mustLook) {
    await pause(feedback.min_look_ms);
    go.disabled = false;
    go.focus({ preventScroll: true });
  }
  await pressed(go);
  tab.remember(ACKNOWLEDGED, feedback.position);
}
