/** A worker's session: asks the server for the current task, shows it, sends the answer, repeats; and the page's frame. */

import { ApiError, createApi, createEvents } from "./api.js";
import { checkDevice, showDone, showNotFound, showOver, showProblem } from "./pages.js";
import { button, el, pressed, quietButton, showNote } from "./screen.js";

/** The device is looked at once after consent; on a later load only a fault is worth a screen. */
function isFirstAfterConsent({ session, task }) {
  return task.kind === session.stages[0].name && session.stages.every((stage) => stage.done === 0);
}

async function takeTask(state, context) {
  if (!context.isChecked && state.task.kind !== "consent") {
    await checkDevice(state, context, { isFirst: isFirstAfterConsent(state) });
    context.isChecked = true;
  }
  const { default: showTask } = await context.stages.get(state.task.kind);
  return showTask(state, context);
}

/** A page that fell behind (a second tab, a lost reply) catches up with the server. */
async function catchUp(error, { api }) {
  if (!(error instanceof ApiError) || !(error.isStale || error.isOver)) throw error;
  const state = await api.load();
  if (error.isStale) showNote("This page was a step behind and has caught up. Nothing is lost.");
  return state;
}

async function takePart(context) {
  let state = await context.api.load();
  while (state.task.kind !== "done") {
    state = await takeTask(state, context).catch((error) => catchUp(error, context));
  }
  showDone(state);
}

function showEnd(error) {
  if (error instanceof ApiError && error.isOver) showOver();
  else if (error instanceof ApiError && error.status === 404) showNotFound();
  else {
    showProblem();
    throw error;
  }
}

/**
 * The module of each stage, by the stage's name. The page names their files. All are loaded now, so that a connection that is
 * lost later stops nothing.
 * @returns {Map<string, Promise<{default: (state: object, context: object) => Promise<object>}>>}
 */
function loadStages() {
  const links = [...document.querySelectorAll("link[data-stage]")];
  return new Map(links.map(({ dataset, href }) => [dataset.stage, import(href)]));
}

function start() {
  const { apiUrl } = document.getElementById("stage").dataset;
  const events = createEvents(apiUrl);
  const overlay = events.watching(createOverlay());
  const withdrawal = createWithdrawal();
  const tab = createTab(apiUrl);
  const keys = createKeys({ tab });
  const api = createApi(apiUrl, {
    watcher: overlay,
    onState({ session, task }) {
      events.at(task);
      showProgress(session);
      withdrawal.at(session);
      keys.at(session, task);
    },
  });
  withdrawal.serve(api);
  takePart({
    api,
    isChecked: false,
    keys,
    overlay,
    stages: loadStages(),
    tab,
  }).catch(showEnd);
}

/**
 * What this tab remembers over a reload: which introductions and feedbacks were seen, and how long
 * a display lasted. Only comfort lives here; the server holds everything that counts.
 * @param {string} name of the session, so that two of them in one tab do not mix
 */
function createTab(name) {
  const kept = new Map();
  const fullKey = (key) => `jedi:${name}:${key}`;

  return {
    remember(key, value = "yes") {
      kept.set(key, String(value));
      try {
        sessionStorage.setItem(fullKey(key), String(value));
      } catch {
        // Storage may be switched off: then a reload shows an introduction once more.
      }
    },

    /** @returns {string|null} */
    recall(key) {
      if (kept.has(key)) return kept.get(key);
      try {
        return sessionStorage.getItem(fullKey(key));
      } catch {
        return null;
      }
    },
  };
}

const OFF = "keys-off";

/**
 * The worker's own switch, in the page's head while there is something to answer.
 * @param {{tab: object}} context
 */
function createKeys({ tab }) {
  const toggle = document.getElementById("answer-keys");
  let isAllowed = false;
  const isOff = () => tab.recall(OFF) === "yes";

  function show() {
    toggle.setAttribute("aria-checked", String(!isOff()));
    toggle.querySelector("[aria-hidden]").textContent = isOff() ? " off" : " on";
  }

  toggle.addEventListener("click", () => {
    tab.remember(OFF, isOff() ? "no" : "yes");
    show();
  });
  show();

  return {
    areOn: () => isAllowed && !isOff(),
    /** The session has come to a task: is there something to answer by a key, and does the study want that? */
    at({ page }, task) {
      isAllowed = page?.answer_keys ?? true;
      toggle.hidden = !isAllowed || !("image" in task);
    },
  };
}

/* The bar at the top: one labelled segment for each stage, as far as the server says */

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
function showProgress(session) {
  const parts = session.stages.map((stage) => segment(stage, session.stage));
  document.getElementById("progress").replaceChildren(...parts);
  showMinutes(session);
}

/* The sheet over the page while the server cannot be reached */

const PATIENCE_MS = 2000;
const SENDING_MS = 1000;

/** A watcher for `untilItSucceeds`: appears after two seconds of trouble, disappears when it is over. */
function createOverlay() {
  const dialog = document.getElementById("trouble");
  const countdown = document.getElementById("trouble-countdown");
  const numbered = document.getElementById("trouble-number");
  const button = document.getElementById("trouble-retry");
  const sending = document.getElementById("sending");
  let troubleSince = 0;
  let retryAt = 0;
  let ticking = 0;
  let tryNow = () => {};
  let focusBefore = null;

  dialog.addEventListener("cancel", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    countdown.textContent = "Trying now …";
    retryAt = 0;
    tryNow();
  });

  function tick() {
    if (!dialog.open && performance.now() - troubleSince >= PATIENCE_MS) {
      focusBefore = document.activeElement;
      dialog.showModal();
    }
    const seconds = Math.ceil((retryAt - performance.now()) / 1000);
    countdown.textContent = seconds > 0 ? `Trying again in ${seconds} s` : "Trying now …";
  }

  function tellSending(isLate) {
    sending.textContent = isLate ? "Still sending …" : "";
    sending.classList.toggle("is-shown", isLate);
  }

  return {
    /** A request is on its way: who waits for more than a second is told so. Call what it returns when it is over. */
    sending() {
      const late = setTimeout(tellSending, SENDING_MS, true);
      return () => {
        clearTimeout(late);
        tellSending(false);
      };
    },

    failed(waitMs, goOn, number) {
      numbered.hidden = !number;
      numbered.querySelector("code").textContent = number ?? "";
      tryNow = goOn;
      retryAt = performance.now() + waitMs;
      if (!ticking) {
        troubleSince = performance.now();
        ticking = setInterval(tick, 250);
      }
      tick();
    },

    recovered() {
      clearInterval(ticking);
      ticking = 0;
      if (!dialog.open) return;
      dialog.close();
      if (focusBefore?.isConnected) focusBefore.focus({ preventScroll: true });
    },
  };
}

/* Withdrawing: a worker may stop at any time, and is told first what becomes of the answers */

const FATE = {
  deleted: "All your answers are deleted at once and cannot be restored.",
  kept: "The answers you have given so far are kept. Nothing more is asked of you.",
};

function farewell(deletes) {
  const stay = button("withdraw-stay", "Stay in the study");
  const leave = quietButton("withdraw-confirm", "Withdraw");
  const dialog = el(
    "dialog",
    { class: "dialog", id: "withdraw-dialog", "aria-labelledby": "withdraw-title", "aria-describedby": "withdraw-text" },
    el("h2", { id: "withdraw-title" }, "Withdraw from the study?"),
    el(
      "div",
      { class: "prose", id: "withdraw-text" },
      el("p", {}, "You can stop at any time without giving a reason. If you withdraw, your session ends for good."),
      el("p", { id: "withdraw-fate" }, el("strong", {}, deletes ? FATE.deleted : FATE.kept)),
      el("p", { class: "soft" }, "You get a completion code only for a finished study."),
    ),
    el("div", { class: "actions" }, stay, leave),
  );
  stay.addEventListener("click", () => dialog.close());
  return { dialog, leave };
}

/** Shows the question over the page; resolves with whether to leave. */
async function ask(deletes) {
  const { dialog, leave } = farewell(deletes);
  // The keys that answer a task must not reach it from here.
  const hold = (event) => event.stopPropagation();
  window.addEventListener("keydown", hold, { capture: true });
  document.body.append(dialog);
  dialog.showModal();
  const closed = new Promise((resolve) => dialog.addEventListener("close", () => resolve(false), { once: true }));
  const isLeaving = await Promise.race([pressed(leave).then(() => true), closed]);
  window.removeEventListener("keydown", hold, { capture: true });
  dialog.remove();
  return isLeaving;
}

/** Makes the link in the page's head work, and shows it while there is something to withdraw from. */
function createWithdrawal() {
  const link = document.getElementById("withdraw");
  let isAsking = false;

  async function offer(api) {
    if (isAsking) return;
    isAsking = true;
    try {
      const { deletes } = await api.withdrawal();
      if (!(await ask(deletes))) return;
      await api.withdraw();
      location.reload();
    } catch {
      // Over already, in another tab for example: the page tells it when it is loaded.
      location.reload();
    } finally {
      isAsking = false;
    }
  }

  return {
    serve: (api) => link.addEventListener("click", () => offer(api)),
    /** Before consent there is nothing to withdraw from yet, and after the end there is nothing left. */
    at({ stage, stages }) {
      link.hidden = !stages.some(({ name }) => name === stage);
    },
  };
}

start();
