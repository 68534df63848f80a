/** Watches an import: asks for its state every second, and loads the page anew when it is settled. */

const page = document.querySelector("[data-state-url]");
const bar = page.querySelector("[data-bar]");
const log = page.querySelector("[data-log]");
const firstState = page.dataset.state;

function show({ text, step, progress, log: lines }) {
  page.querySelector("[data-text]").textContent = text;
  page.querySelector("[data-step]").textContent = step;
  bar.value = progress;
  const wasAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  log.textContent = lines;
  if (wasAtEnd) log.scrollTop = log.scrollHeight;
}

async function watch() {
  try {
    const reply = await fetch(page.dataset.stateUrl, { headers: { Accept: "application/json" } });
    if (reply.ok) {
      const state = await reply.json();
      show(state);
      if (state.is_settled && state.state !== firstState) {
        window.location.reload();
        return;
      }
    }
  } catch {
    // The server is away for a moment; the next look will tell.
  }
  setTimeout(watch, 1000);
}

if (firstState === "running" || firstState === "waiting") watch();
