/** Watches an import: shows its state every second, and reloads the page when it has ended. */

import { pollUntilEnded } from "./poll.js";

const EVERY_MS = 1000;

const page = document.querySelector("[data-state-url]");
const bar = page.querySelector("[data-bar]");
const log = page.querySelector("[data-log]");
const firstState = page.dataset.state;

function showLog(lines) {
  const wasAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  log.textContent = lines;
  if (wasAtEnd) log.scrollTop = log.scrollHeight;
}

function show({ text, step, progress, log: lines, state, is_settled: isSettled }) {
  page.querySelector("[data-text]").textContent = text;
  page.querySelector("[data-step]").textContent = step;
  bar.value = progress;
  showLog(lines);
  return isSettled && state !== firstState;
}

if (firstState === "running" || firstState === "waiting") pollUntilEnded(page.dataset.stateUrl, EVERY_MS, show);
