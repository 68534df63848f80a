/** Looks whether this device can show the study: a window large enough, and images that load. */

import { hasRoomFor } from "./board.js";
import { announce, button, el, heading, icon, pressed, quietButton, screenRoot, showScreen } from "./dom.js";
import { imagesOf, loadImages } from "./images.js";

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
      pictures.tell("good", "They load fine.");
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
