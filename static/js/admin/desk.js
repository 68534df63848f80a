/** On every page of the desk: marks what is wider than its box, and copies at the press of a button. */

import { copyText } from "../clipboard.js";

/* Tables and maps that are wider than the page: marks on which side there is more, and begins at the shown image. */

const BOXES = ".wide, .map-frame";

function markSides(box) {
  const beyond = box.scrollWidth - box.clientWidth;
  box.classList.toggle("is-cut", beyond > 1);
  box.classList.toggle("has-more-left", box.scrollLeft > 1);
  box.classList.toggle("has-more-right", beyond - box.scrollLeft > 1);
}

function markAll() {
  document.querySelectorAll(BOXES).forEach(markSides);
}

function centre(box, target) {
  const [frame, spot] = [box, target].map((one) => one.getBoundingClientRect());
  box.scrollLeft += spot.left + spot.width / 2 - (frame.left + frame.width / 2);
}

for (const box of document.querySelectorAll(".map-frame")) {
  const ring = box.querySelector(".ring");
  if (ring) centre(box, ring);
}
markAll();
window.addEventListener("resize", markAll);
// Neither bubbles: seen on its way down.
document.addEventListener("scroll", markAll, { capture: true, passive: true });
document.addEventListener("toggle", markAll, { capture: true });
// The monitor and rehearsals put new tables in the place of old ones.
new MutationObserver(markAll).observe(document.body, { childList: true, subtree: true });

/* Buttons that copy the text beside them: `data-copy` is the id of the element that holds it. */

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    const isCopied = await copyText(field.textContent, field);
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  });
}
