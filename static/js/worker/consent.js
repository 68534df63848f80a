/** The researcher's consent text, and the choice whether to take part. */

import { button, el, heading, pressed, quietButton, screenRoot, showScreen } from "./screen.js";

function paragraphs(text) {
  return text
    .split(/\r?\n\s*\r?\n/)
    .filter((paragraph) => paragraph.trim())
    .map((paragraph) => el("p", {}, paragraph.trim()));
}

function declineDialog() {
  const stay = button("consent-stay", "Go back");
  const leave = quietButton("consent-decline-confirm", "End here");
  const dialog = el(
    "dialog",
    { class: "dialog", id: "consent-dialog", "aria-labelledby": "consent-dialog-title" },
    el("h2", { id: "consent-dialog-title" }, "Leave the study?"),
    el("p", {}, "That is perfectly fine. The study ends for you here, and no answers are kept."),
    el("div", { class: "actions" }, stay, leave),
  );
  stay.addEventListener("click", () => dialog.close());
  return { dialog, leave };
}

/** @param {import("./api.js").State} state */
export default async function takeConsent({ task }, { api }) {
  const agree = button("consent-agree", "I agree to take part");
  const decline = quietButton("consent-decline", "No, thank you");
  const { dialog, leave } = declineDialog();
  decline.addEventListener("click", () => dialog.showModal());
  showScreen(
    screenRoot(
      "consent",
      { position: task.position, className: "is-calm is-reading" },
      heading("Before you begin"),
      el("div", { class: "prose consent-text", id: "consent-text" }, ...paragraphs(task.text)),
      el("div", { class: "actions is-sticky" }, agree, decline),
      dialog,
    ),
  );
  const agreed = await Promise.race([
    pressed(agree).then(() => true),
    pressed(leave).then(() => false),
  ]);
  dialog.close();
  agree.disabled = true;
  decline.disabled = true;
  return api.answer({ position: task.position, agree: agreed });
}
