/** The quiet way out: a worker may stop at any time, and is told first what becomes of the answers. */

import { button, el, pressed, quietButton } from "./dom.js";

const FATE = {
  deleted: "Everything you did here is deleted at once and cannot be restored.",
  kept: "The answers you have given so far are kept. Nothing more is asked of you.",
};

function farewell(deletes) {
  const stay = button("withdraw-stay", "Stay in the study");
  const leave = quietButton("withdraw-confirm", "Withdraw");
  const dialog = el(
    "dialog",
    { class: "dialog", id: "withdraw-dialog", "aria-labelledby": "withdraw-title", "aria-describedby": "withdraw-text" },
    el("h2", { id: "withdraw-title" }, "Withdraw from the study?"),
    el(
      "div",
      { class: "prose", id: "withdraw-text" },
      el("p", {}, "You can stop at any time without giving a reason. If you withdraw, your session ends for good."),
      el("p", { id: "withdraw-fate" }, el("strong", {}, deletes ? FATE.deleted : FATE.kept)),
      el("p", { class: "soft" }, "You get a completion code only for a finished study."),
    ),
    el("div", { class: "actions" }, stay, leave),
  );
  stay.addEventListener("click", () => dialog.close());
  return { dialog, leave };
}

/** Shows the question over the page; resolves with whether to leave. */
async function ask(deletes) {
  const { dialog, leave } = farewell(deletes);
  // The keys that answer a task must not reach it from here.
  const hold = (event) => event.stopPropagation();
  window.addEventListener("keydown", hold, { capture: true });
  document.body.append(dialog);
  dialog.showModal();
  const closed = new Promise((resolve) => dialog.addEventListener("close", () => resolve(false), { once: true }));
  const isLeaving = await Promise.race([pressed(leave).then(() => true), closed]);
  window.removeEventListener("keydown", hold, { capture: true });
  dialog.remove();
  return isLeaving;
}

/** Makes the link in the page's head work, and shows it while there is something to withdraw from. */
export function createWithdrawal() {
  const link = document.getElementById("withdraw");
  let isAsking = false;

  async function offer(api) {
    if (isAsking) return;
    isAsking = true;
    try {
      const { deletes } = await api.withdrawal();
      if (!(await ask(deletes))) return;
      await api.withdraw();
      location.reload();
    } catch {
      // Over already, in another tab for example: the page tells it when it is loaded.
      location.reload();
    } finally {
      isAsking = false;
    }
  }

  return {
    serve: (api) => link.addEventListener("click", () => offer(api)),
    /** Before consent there is nothing to withdraw from yet, and after the end there is nothing left. */
    at({ stage, stages }) {
      link.hidden = !stages.some(({ name }) => name === stage);
    },
  };
}
