/** The session API. A lost reply is harmless: the very same request is sent again. */

import { insist } from "./insist.js";
import { TryAgain, untilItSucceeds } from "./retry.js";

/**
 * @typedef {{name: string, title: string, done: number, total: number|null}} Stage
 * @typedef {{code: string, study: string, classes: string[], stage: string, stages: Stage[]}} Session
 * @typedef {{kind: string, position: number} & Record<string, any>} Task
 * @typedef {{session: Session, task: Task, feedback?: Record<string, any>|null}} State
 */

const TIMEOUT_MS = 12_000;
const OVER = 410;
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A reply that sending again would not change. */
export class ApiError extends Error {
  constructor(status, { code = "unknown", message = "" } = {}) {
    super(message || `The server answered ${status}.`);
    this.status = status;
    this.code = code;
  }

  get isOver() {
    return this.status === OVER;
  }

  get isStale() {
    return this.status === 409;
  }
}

async function readJson(response) {
  try {
    return await response.json();
  } catch (cause) {
    throw response.ok ? new TryAgain("The reply was cut off.", { cause }) : cause;
  }
}

async function sendOnce(url, body, signal) {
  const options = { headers: { Accept: "application/json" }, cache: "no-store" };
  if (body !== null) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = body;
  }
  let response;
  try {
    response = await fetch(url, { ...options, signal });
  } catch (cause) {
    throw new TryAgain("The server cannot be reached.", { cause });
  }
  if (PASSING.has(response.status)) {
    const afterMs = 1000 * Number(response.headers.get("Retry-After") ?? 0) || 0;
    const number = response.status === 500 ? response.headers.get("X-Request-ID") : null;
    throw new TryAgain(`The server answered ${response.status}.`, { afterMs, number });
  }
  if (!response.ok) {
    const reply = await readJson(response).catch(() => ({}));
    throw new ApiError(response.status, reply.error);
  }
  return readJson(response);
}

const send = (url, body) => insist((signal) => sendOnce(url, body, signal), TIMEOUT_MS);

/**
 * @param {string} url address of the session, with a slash at its end
 * @param {{watcher: object, onState: (state: State) => void}} options
 */
export function createApi(url, { watcher, onState }) {
  async function call(path, content) {
    const body = content === null ? null : JSON.stringify(content);
    const sent = body === null ? () => {} : watcher.sending();
    try {
      const state = await untilItSucceeds(() => send(url + path, body), watcher);
      onState(state);
      return state;
    } finally {
      sent();
    }
  }

  return {
    /** @returns {Promise<State>} */
    load: () => call("", null),
    /** @returns {Promise<State>} */
    startExposure: (position) => call("exposures/", { position }),
    /** @returns {Promise<State>} with `feedback` if the round is played again */
    endExposure: (report) => call("displays/", report),
    /** @returns {Promise<State>} */
    answer: (answer) => call("answers/", answer),
    /** @returns {Promise<{deletes: boolean}>} what a withdrawal would do */
    withdrawal: () => untilItSucceeds(() => send(`${url}withdrawal/`, null), watcher),
    /** @returns {Promise<State>} */
    withdraw: () => call("withdrawal/", {}),
  };
}
