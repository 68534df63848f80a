/**
 * A connection can die without a word: the machine of a server restarts, a network changes. Whoever waits for a reply asks
 * the server for a sign of life, and, when it gives one, for the same thing again. Everything that a page asks for may be
 * asked for twice.
 */

import { pause } from "./timing.js";

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
