/** Buttons that copy the text beside them: `data-copy` is the id of the element that holds it. */

import { copyText } from "../clipboard.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    const isCopied = await copyText(field.textContent, field);
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  });
}
