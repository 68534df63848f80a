/** One picture of each class with its name, before the learning begins, in studies that want that. */

import { className } from "./classify.js";
import { button, el, heading, pressed, screenRoot, showScreen } from "./dom.js";
import { loadImages } from "./images.js";

const SEEN = "references-seen";

function card({ name, description }, picture) {
  picture.alt = "";
  return el(
    "li",
    { class: "reference" },
    picture,
    el("strong", {}, className(name)),
    description ? el("span", { class: "soft" }, description) : null,
  );
}

/** @param {{references?: {name: string, description: string, image: {url: string, alt: string}}[]}} task */
export async function showReferences({ references = [] }, { tab, overlay }) {
  if (!references.length || tab.recall(SEEN)) return;
  const watcher = { ready() {}, failed: (tryNow) => overlay.failed(0, tryNow), recovered: () => overlay.recovered() };
  const pictures = await loadImages(references.map(({ image }) => image.url), watcher);
  const go = button("references-continue", "Continue");
  const list = el("ul", { class: "references" }, ...references.map((one, index) => card(one, pictures[index])));
  list.style.setProperty("--count", String(references.length));
  showScreen(
    screenRoot(
      "references",
      { className: "is-calm is-references" },
      heading("This is what they look like"),
      el("p", { class: "lead" }, "One picture of each. Others of the same kind look different: you will see many of them."),
      list,
      el("div", { class: "actions is-sticky" }, go),
    ),
  );
  await pressed(go);
  tab.remember(SEEN);
}
