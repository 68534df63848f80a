/** Which key answers what. Bare digits and letters can be switched off, by the study and by the worker. */

const OFF = "keys-off";
/** For as many classes as there may be, in the order of the buttons. */
const KEYS = "1234567890abcdefghij";
/** Under the two hands, for two classes. */
const HOME_KEYS = ["f", "j"];

const withModifier = ({ ctrlKey, metaKey, altKey, repeat }) => ctrlKey || metaKey || altKey || repeat;

/** What each button says about its key: arrows for two, digits and letters for more. */
export function hintsFor(count, hasKeys) {
  if (count === 2) return ["←", "→"];
  return Array.from({ length: count }, (_, index) => (hasKeys ? KEYS[index].toUpperCase() : ""));
}

/** The button that a digit or a letter stands for. */
function indexOfKey(key, count) {
  const small = key.toLowerCase();
  const home = count === 2 ? HOME_KEYS.indexOf(small) : -1;
  const index = home >= 0 ? home : KEYS.indexOf(small);
  return index >= 0 && index < count ? index : null;
}

/** Where an arrow leads from a button, by where the buttons stand. */
function neighbour(buttons, from, key) {
  if (from < 0) return 0;
  const { x, y } = buttons[from].getBoundingClientRect();
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step) return Math.max(0, Math.min(buttons.length - 1, from + step));
  const isDown = key === "ArrowDown";
  const rows = buttons
    .map((button, index) => ({ index, box: button.getBoundingClientRect() }))
    .filter(({ box }) => (isDown ? box.y > y + 1 : box.y < y - 1))
    .sort((one, other) => Math.abs(one.box.y - y) - Math.abs(other.box.y - y) || Math.abs(one.box.x - x) - Math.abs(other.box.x - x));
  return rows[0]?.index ?? from;
}

/**
 * The number of the class that a key answers, or null. Of two, the arrows answer; among more, they lead from button to button.
 * @param {KeyboardEvent} event
 * @param {HTMLButtonElement[]} buttons
 * @param {boolean} hasKeys whether bare digits and letters answer
 * @returns {number|null}
 */
export function answerOf(event, buttons, hasKeys) {
  if (withModifier(event) || !event.key) return null;
  const isArrow = event.key.startsWith("Arrow");
  if (isArrow && buttons.length > 2) {
    buttons[neighbour(buttons, buttons.indexOf(document.activeElement), event.key)].focus();
    event.preventDefault();
    return null;
  }
  const arrow = isArrow ? ["ArrowLeft", "ArrowRight"].indexOf(event.key) : -1;
  const index = arrow >= 0 ? arrow : hasKeys && event.key.length === 1 ? indexOfKey(event.key, buttons.length) : null;
  if (index !== null) event.preventDefault();
  return index;
}

/** Whether a key goes on from an answer that is shown: from anywhere on the page, but not from another button or a dialog. */
export function goesOn(event) {
  if (withModifier(event)) return false;
  const isPress = event.key === "Enter" || event.key === " ";
  const elsewhere = event.target.closest?.("header button, a, dialog");
  return (isPress && !elsewhere) || Boolean(event.key?.startsWith("Arrow") && !event.target.closest?.("dialog"));
}

/**
 * The worker's own switch, in the page's head while there is something to answer.
 * @param {{tab: object}} context
 */
export function createKeys({ tab }) {
  const toggle = document.getElementById("answer-keys");
  let isAllowed = false;
  const isOff = () => tab.recall(OFF) === "yes";

  function show() {
    toggle.setAttribute("aria-checked", String(!isOff()));
    toggle.querySelector("[aria-hidden]").textContent = isOff() ? " off" : " on";
  }

  toggle.addEventListener("click", () => {
    tab.remember(OFF, isOff() ? "no" : "yes");
    show();
  });
  show();

  return {
    areOn: () => isAllowed && !isOff(),
    /** The session has come to a task: is there something to answer by a key, and does the study want that? */
    at({ page }, task) {
      isAllowed = page?.answer_keys ?? true;
      toggle.hidden = !isAllowed || !("image" in task);
    },
  };
}
