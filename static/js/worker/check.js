/** Looks whether this device can show the study: a window large enough, and images that load. */

import {
  announce, button, el, heading, icon, pressed, quietButton, screenRoot, showScreen,
} from "./dom.js";
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

function windowFault({ minWidth, minHeight }) {
  const { innerWidth: width, innerHeight: height } = window;
  if (width >= minWidth && height >= minHeight) return null;
  return (
    `It is ${width} by ${height} and needs to be at least ${minWidth} by ${minHeight}. ` +
    "Make the window larger, zoom out, or turn your phone."
  );
}

/**
 * Shown once after consent. Later it stays out of sight unless the window is too small, as after a
 * change of device.
 * @param {import("./api.js").State} state
 * @param {{device: {minWidth: number, minHeight: number}, tab: object}} context
 * @param {{isFirst: boolean}} options
 */
export async function checkDevice({ task }, { device, tab }, { isFirst }) {
  const mustShow = isFirst && !tab.recall(CHECKED);
  if (!mustShow && windowFault(device) === null) return;

  const size = checkRow("check-window", "icon-window", "Your window");
  const pictures = checkRow("check-pictures", "icon-picture", "Pictures");
  const retry = quietButton("check-retry", "Try again", { hidden: true });
  const go = button("check-continue", "Continue", { disabled: true });
  let picturesLoaded = false;

  function look() {
    const fault = windowFault(device);
    size.tell(fault ? "bad" : "good", fault ?? "It is large enough.");
    const mayGo = fault === null && picturesLoaded;
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
      el("ul", { class: "checks" }, size.row, pictures.row),
      el("div", { class: "actions" }, go, retry),
    ),
  );
  pictures.tell("waiting", "Loading a few of them …");
  look();
  window.addEventListener("resize", look);
  const urls = imagesOf(task);
  loadImages(urls, {
    ready: (count) => {
      if (count < urls.length) return;
      picturesLoaded = true;
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
  await pressed(go);
  window.removeEventListener("resize", look);
  tab.remember(CHECKED);
}
