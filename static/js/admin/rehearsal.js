/** Watches the rehearsals of a study, and reloads the page when one of them has ended. */

import { pollUntilEnded } from "./poll.js";

const EVERY_MS = 1500;

const page = document.querySelector("[data-state-url]");

/** @returns {boolean} whether the rehearsal has ended since the page was loaded */
function showOne({ id, text, share, ended, is_under_way: isUnderWay }) {
  const row = page.querySelector(`[data-rehearsal="${id}"]`);
  if (!row) return false;
  row.querySelector("progress").value = share;
  row.querySelector("[data-ended]").textContent = ended;
  row.querySelector("[data-text]").textContent = text;
  return "underWay" in row.dataset && !isUnderWay;
}

function show({ rehearsals }) {
  return rehearsals.map(showOne).some(Boolean);
}

if (page.querySelector("[data-under-way]")) pollUntilEnded(page.dataset.stateUrl, EVERY_MS, show);
