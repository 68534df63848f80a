/** A worker's session: asks the server for the current task, shows it, sends the answer, repeats. */

import { createApi, ApiError } from "./api.js";
import { checkDevice } from "./check.js";
import { showNote } from "./dom.js";
import { showDone, showNotFound, showOver, showProblem } from "./done.js";
import { createEvents } from "./events.js";
import { createKeys } from "./keys.js";
import { createOverlay } from "./overlay.js";
import { showProgress } from "./progress.js";
import { createTab } from "./tab.js";
import { createWithdrawal } from "./withdraw.js";

/** The device is looked at once after consent; on a later load only a fault is worth a screen. */
function isFirstAfterConsent({ session, task }) {
  return task.kind === session.stages[0].name && session.stages.every((stage) => stage.done === 0);
}

async function takeTask(state, context) {
  if (!context.isChecked && state.task.kind !== "consent") {
    await checkDevice(state, context, { isFirst: isFirstAfterConsent(state) });
    context.isChecked = true;
  }
  return context.tasks[state.task.kind](state, context);
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
 * Starts the page.
 * @param {Record<string, Function>} tasks by the name of their stage: each takes a state, shows its task and returns the state
 *   after it
 */
export function start(tasks) {
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
    tab,
    tasks,
  }).catch(showEnd);
}
