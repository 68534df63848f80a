/** The bar at the top: one labelled segment for each stage, as far as the server says. */

import { el } from "./dom.js";

function segment({ name, title, done, part = 0, total }, current) {
  const isKnown = total !== null && total > 0;
  const words = isKnown ? `${done} of ${total}` : "not started";
  const fill = el("span", { class: "progress-fill" });
  fill.style.setProperty("--done", isKnown ? String(Math.min(1, (done + part) / total)) : "0");
  const bar = {
    class: "progress-bar",
    role: "progressbar",
    "aria-label": title,
    "aria-valuemin": 0,
    "aria-valuemax": isKnown ? total : 1,
    "aria-valuenow": isKnown ? Math.min(done, total) : 0,
    "aria-valuetext": words,
  };
  return el(
    "li",
    {
      class: "progress-part",
      "data-stage": name,
      "data-done": done,
      "data-total": total,
      "aria-current": name === current ? "step" : null,
    },
    el("span", { class: "progress-name" }, title),
    el("span", { class: "progress-count", "aria-hidden": "true" }, isKnown ? `${done}/${total}` : ""),
    el("div", bar, fill),
  );
}

function showMinutes({ page, stage, stages }) {
  const minutes = page?.minutes_left;
  const place = document.getElementById("minutes-left");
  place.hidden = !minutes || !stages.some(({ name }) => name === stage);
  place.textContent = minutes ? `${minutes} min left` : "";
}

/** @param {import("./api.js").Session} session */
export function showProgress(session) {
  const parts = session.stages.map((stage) => segment(stage, session.stage));
  document.getElementById("progress").replaceChildren(...parts);
  showMinutes(session);
}
