/** The friendly sheet over the page while the server cannot be reached. */

const PATIENCE_MS = 2000;
const SENDING_MS = 1000;

/** A watcher for `untilItSucceeds`: appears after two seconds of trouble, disappears when it is over. */
export function createOverlay() {
  const dialog = document.getElementById("trouble");
  const countdown = document.getElementById("trouble-countdown");
  const numbered = document.getElementById("trouble-number");
  const button = document.getElementById("trouble-retry");
  const sending = document.getElementById("sending");
  let troubleSince = 0;
  let retryAt = 0;
  let ticking = 0;
  let tryNow = () => {};
  let focusBefore = null;

  dialog.addEventListener("cancel", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    countdown.textContent = "Trying now …";
    retryAt = 0;
    tryNow();
  });

  function tick() {
    if (!dialog.open && performance.now() - troubleSince >= PATIENCE_MS) {
      focusBefore = document.activeElement;
      dialog.showModal();
    }
    const seconds = Math.ceil((retryAt - performance.now()) / 1000);
    countdown.textContent = seconds > 0 ? `Trying again in ${seconds} s` : "Trying now …";
  }

  function tellSending(isLate) {
    sending.textContent = isLate ? "Still sending …" : "";
    sending.classList.toggle("is-shown", isLate);
  }

  return {
    /** A request is on its way: who waits for more than a second is told so. Call what it returns when it is over. */
    sending() {
      const late = setTimeout(tellSending, SENDING_MS, true);
      return () => {
        clearTimeout(late);
        tellSending(false);
      };
    },

    failed(waitMs, goOn, number) {
      numbered.hidden = !number;
      numbered.querySelector("code").textContent = number ?? "";
      tryNow = goOn;
      retryAt = performance.now() + waitMs;
      if (!ticking) {
        troubleSince = performance.now();
        ticking = setInterval(tick, 250);
      }
      tick();
    },

    recovered() {
      clearInterval(ticking);
      ticking = 0;
      if (!dialog.open) return;
      dialog.close();
      if (focusBefore?.isConnected) focusBefore.focus({ preventScroll: true });
    },
  };
}
