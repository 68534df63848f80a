/** The clipboard, also where the browser does not lend it. */

/**
 * Copies text; without a secure connection it selects the element that shows it and asks the browser to copy that.
 * @param {string} text
 * @param {HTMLElement} field the element that shows the text
 * @returns {Promise<boolean>} whether it was copied
 */
export async function copyText(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(field);
    return document.execCommand("copy");
  }
}
