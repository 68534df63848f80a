/**
 * Tells the server what happened around the tasks: the page was opened, left and seen again, the
 * server was away, something broke. Sent in small batches beside the work; no task ever waits for it,
 * and what cannot be sent is forgotten in silence.
 */

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
