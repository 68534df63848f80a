/** A worker's session: asks the server for the current task, shows it, sends the answer, repeats. */

import { createApi, ApiError } from "./api.js";
import { checkDevice } from "./check.js";
import { showNote } from "./dom.js";
import { showDone, showNotFound, showOver, showProblem } from "./done.js";
import { createEvents } from "./events.js";
import { createOverlay } from "./overlay.js";
import { showProgress } from "./progress.js";
import { createTab } from "./tab.js";
import { createWithdrawal } from "./withdraw.js";

/** Every stage brings a module whose default export takes a state, shows its task and returns the state after it. */
async function loadTasks(scripts) {
  const tasks = Object.entries(scripts).map(async ([kind, address]) => [kind, (await import(address)).default]);
  return Object.fromEntries(await Promise.all(tasks));
}

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

async function takePart(scripts, others) {
  const [first, tasks] = await Promise.all([others.api.load(), loadTasks(scripts)]);
  const context = { ...others, tasks };
  let state = first;
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

const { apiUrl, scripts } = document.getElementById("stage").dataset;
const events = createEvents(apiUrl);
const overlay = events.watching(createOverlay());
const withdrawal = createWithdrawal();
const api = createApi(apiUrl, {
  watcher: overlay,
  onState({ session, task }) {
    events.at(task);
    showProgress(session);
    withdrawal.at(session);
  },
});
withdrawal.serve(api);
takePart(JSON.parse(scripts), {
  api,
  isChecked: false,
  overlay,
  tab: createTab(apiUrl),
}).catch(showEnd);
