/** Watches work in the background: asks for its state again and again, and reloads the page once it has ended. */

/**
 * @param {string} url answers with the state as JSON
 * @param {number} everyMs
 * @param {(state: any) => boolean} show shows the state, and tells whether the work has ended
 */
export async function pollUntilEnded(url, everyMs, show) {
  try {
    const reply = await fetch(url, { headers: { Accept: "application/json" } });
    if (reply.ok && show(await reply.json())) {
      window.location.reload();
      return;
    }
  } catch {
    // The server is away for a moment; the next request will tell.
  }
  setTimeout(pollUntilEnded, everyMs, url, everyMs, show);
}
