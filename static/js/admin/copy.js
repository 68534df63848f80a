/** Buttons that copy what stands beside them: `data-copy` names the element by its id. */

async function copy(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without a secure connection the browser lends no clipboard: selecting is half of the work.
    getSelection().selectAllChildren(field);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    const isCopied = await copy(field.textContent, field);
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  });
}
