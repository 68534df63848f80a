/** Patience with a bad network: the same attempt again, later and later, until it succeeds. */

const FIRST_WAIT_MS = 400;
/** A server that comes back is found within three seconds. */
const LONGEST_WAIT_MS = 2_500;
/** How long a server's own wish is heeded at most. */
const LONGEST_WISH_MS = 60_000;

/** Exponential back-off with jitter, so that a crowd does not come back all at once. */
export function backOff(failures, random = Math.random()) {
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
