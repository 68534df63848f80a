/** The session API. A lost reply is harmless: the very same request is sent again. */

import { pause } from "./screen.js";

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

/* Retries: the same attempt again, later and later, until it succeeds */

const FIRST_WAIT_MS = 400;
/** A server that comes back is found within three seconds. */
const LONGEST_WAIT_MS = 2_500;
/** How long a server's own wish is heeded at most. */
const LONGEST_WISH_MS = 60_000;

/** Exponential back-off with jitter, so that a crowd does not come back all at once. */
function backOff(failures, random = Math.random()) {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
  return Math.round(longest * (0.5 + random / 2));
}

/**
 * An attempt that may be made again; `afterMs` is the server's own wish, if it has one, and `number` that of an error of
 * the server in its log.
 */
export class TryAgain extends Error {
  constructor(message, { afterMs = 0, number = null, cause } = {}) {
    super(message, { cause });
    this.afterMs = afterMs;
    this.number = number;
  }
}

/**
 * Repeats `attempt` as long as it throws TryAgain.
 * @template T
 * @param {() => Promise<T>} attempt
 * @param {{failed: (waitMs: number, tryNow: () => void, number: string|null) => void, recovered: () => void}} watcher
 *   told before every wait, and once when it is over
 * @returns {Promise<T>}
 */
export async function untilItSucceeds(attempt, watcher) {
  for (let failures = 1; ; failures += 1) {
    try {
      const result = await attempt();
      watcher.recovered();
      return result;
    } catch (error) {
      if (!(error instanceof TryAgain)) {
        watcher.recovered();
        throw error;
      }
      const waitMs = Math.max(backOff(failures), Math.min(error.afterMs, LONGEST_WISH_MS));
      await new Promise((resolve) => {
        const goOn = () => {
          clearTimeout(timer);
          window.removeEventListener("online", goOn);
          resolve();
        };
        const timer = setTimeout(goOn, waitMs);
        window.addEventListener("online", goOn);
        watcher.failed(waitMs, goOn, error.number);
      });
    }
  }
}

/* A connection can die without a word: the machine of a server restarts, a network changes. Whoever waits for a reply asks
   the server for a sign of life, and, when it gives one, for the same thing again. Everything that a page asks for may be
   asked for twice. */

/** A server that comes back is found within three seconds. */
const QUIET_MS = 2_000;
const SIGN_OF_LIFE_MS = 2_000;
const BETWEEN_SIGNS_MS = 500;
const QUIET = Symbol("quiet");

const { healthUrl } = document.getElementById("stage").dataset;

async function isAlive() {
  try {
    const { status } = await fetch(healthUrl, { cache: "no-store", signal: AbortSignal.timeout(SIGN_OF_LIFE_MS) });
    return status < 500;
  } catch {
    return false;
  }
}

/** Resolves when the server has shown, after a time, that others get a reply from it. */
async function quietOf(milliseconds, signal) {
  await pause(milliseconds);
  while (!signal.aborted && !(await isAlive())) await pause(BETWEEN_SIGNS_MS);
  return QUIET;
}

/**
 * Makes an attempt, and further ones beside it while none has come to an end and the server is alive; what the first one
 * comes to counts. A slow server and a slow line are asked less and less often.
 * @template T
 * @param {(signal: AbortSignal, number: number) => Promise<T>} attempt `signal` tells that its outcome no longer matters
 * @param {number} [withinMs] when all of them are given up
 * @returns {Promise<T>}
 */
export async function insist(attempt, withinMs) {
  const attempts = [];
  const over = new AbortController();
  const timer = withinMs && setTimeout(() => over.abort(), withinMs);
  try {
    for (let quietMs = QUIET_MS; ; quietMs *= 2) {
      attempts.push(attempt(over.signal, attempts.length + 1));
      const first = await Promise.race([...attempts, quietOf(quietMs, over.signal)]);
      if (first !== QUIET) return first;
    }
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

/* Events: what happened around the tasks. The page was opened, left and seen again, the server was away, something broke.
   Sent in small batches beside the work; no task ever waits for it, and what cannot be sent is dropped. */

const GATHER_MS = 4000;
const MOST_WAITING = 20;
const DETAIL_LENGTH = 300;

/** The words of an error and its place in a file; no addresses, which are keys of sessions. */
function words(error, place = "") {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return [said, place].filter(Boolean).join(" at ").slice(0, DETAIL_LENGTH);
}

function placeOf({ filename = "", lineno = 0 }) {
  const file = filename.split("/").pop();
  return file && lineno ? `${file}:${lineno}` : "";
}

/**
 * Listens to the page from now on. Nothing is sent before the session is known to exist, nor after
 * it has ended.
 * @param {string} url address of the session, with a slash at its end
 */
export function createEvents(url) {
  let waiting = [];
  let position = 0;
  let isAway = false;
  let timer = 0;

  function note(kind, detail = "") {
    if (waiting.length < MOST_WAITING) {
      waiting.push({ kind, detail, client_ms: performance.now(), ...(position ? { position } : {}) });
    }
    if (position && !isAway && !timer) timer = setTimeout(send, GATHER_MS);
  }

  async function send() {
    clearTimeout(timer);
    timer = 0;
    if (!position || isAway || !waiting.length) return;
    const body = JSON.stringify({ sent_ms: performance.now(), events: waiting });
    const headers = { "Content-Type": "application/json" };
    waiting = [];
    try {
      // The browser finishes this also when the page is closed.
      await fetch(`${url}events/`, { method: "POST", body, headers, keepalive: true, priority: "low" });
    } catch {
      // They were only events.
    }
  }

  document.addEventListener("visibilitychange", () => {
    note(document.hidden ? "hidden" : "shown");
    if (document.hidden) send();
  });
  window.addEventListener("pagehide", send);
  window.addEventListener("error", (event) => note("error", words(event.error ?? event.message, placeOf(event))));
  window.addEventListener("unhandledrejection", (event) => note("error", words(event.reason)));
  note("opened");

  return {
    /** The session has come to a task; a session without one has ended. */
    at(task) {
      position = task.position ?? 0;
      if (position && waiting.length && !timer) timer = setTimeout(send, GATHER_MS);
    },

    /** A watcher for `untilItSucceeds` that does what another does, and notes when the server was away. */
    watching(watcher) {
      return {
        ...watcher,
        failed(...trouble) {
          if (!isAway) note("offline");
          isAway = true;
          watcher.failed(...trouble);
        },
        recovered() {
          const wasAway = isAway;
          isAway = false;
          if (wasAway) note("online");
          watcher.recovered();
        },
      };
    },
  };
}
