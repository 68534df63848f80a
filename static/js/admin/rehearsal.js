/** Watches the rehearsals of a study, and loads the page anew when one of them has ended. */

const page = document.querySelector("[data-state-url]");

function show({ id, text, share, ended, is_under_way: isUnderWay }) {
  const row = page.querySelector(`[data-rehearsal="${id}"]`);
  if (!row) return false;
  row.querySelector("progress").value = share;
  row.querySelector("[data-ended]").textContent = ended;
  row.querySelector("[data-text]").textContent = text;
  return "underWay" in row.dataset && !isUnderWay;
}

async function watch() {
  try {
    const reply = await fetch(page.dataset.stateUrl, { headers: { Accept: "application/json" } });
    if (reply.ok) {
      const { rehearsals } = await reply.json();
      if (rehearsals.map(show).some(Boolean)) {
        window.location.reload();
        return;
      }
    }
  } catch {
    // The server is away for a moment; the next look will tell.
  }
  setTimeout(watch, 1500);
}

if (page.querySelector("[data-under-way]")) watch();
