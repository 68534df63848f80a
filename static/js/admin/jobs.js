/** Work in the background: asks for its state again and again, shows it, and reloads the page once it has ended. */

/**
 * @param {string} url answers with the state as JSON
 * @param {number} everyMs
 * @param {(state: any) => boolean} show shows the state, and tells whether the work has ended
 */
async function pollUntilEnded(url, everyMs, show) {
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

function watchImport(page) {
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

  if (firstState === "running" || firstState === "waiting") pollUntilEnded(page.dataset.stateUrl, 1000, show);
}

function watchRehearsals(page) {
  /** @returns {boolean} whether the rehearsal has ended since the page was loaded */
  function showOne({ id, text, share, ended, is_under_way: isUnderWay }) {
    const row = page.querySelector(`[data-rehearsal="${id}"]`);
    if (!row) return false;
    row.querySelector("progress").value = share;
    row.querySelector("[data-ended]").textContent = ended;
    row.querySelector("[data-text]").textContent = text;
    return "underWay" in row.dataset && !isUnderWay;
  }

  const show = ({ rehearsals }) => rehearsals.map(showOne).some(Boolean);
  if (page.querySelector("[data-under-way]")) pollUntilEnded(page.dataset.stateUrl, 1500, show);
}

document.querySelectorAll(".import[data-state-url]").forEach(watchImport);
document.querySelectorAll(".rehearsal[data-state-url]").forEach(watchRehearsals);
