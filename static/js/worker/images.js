/** Images that are loaded and decoded before anybody sees them. */

import { insist, TryAgain, untilItSucceeds } from "./api.js";

const MOST_KEPT = 24;

/** @type {Map<string, Promise<HTMLImageElement>>} */
const kept = new Map();

/** Sides are asked for in steps, so that a window that is dragged a little does not load everything again. */
const STEP_PX = 240;

let shownSide = 0;
const sizes = new ResizeObserver((entries) => {
  const specimen = entries.find(({ target }) => target.isConnected && target.matches(".specimen-image"));
  if (specimen) shownSide = Math.max(specimen.contentRect.width, specimen.contentRect.height);
});

/** The longest side of a picture on this screen: as the last one had it, or as the window allows before there was one. */
function sideInPixels() {
  const side = shownSide || Math.min(window.innerWidth, window.innerHeight);
  return STEP_PX * Math.ceil((side * window.devicePixelRatio) / STEP_PX);
}

function fetchImage(url, signal, number) {
  const image = new Image();
  image.draggable = false;
  const loaded = new Promise((resolve, reject) => {
    image.onload = () => resolve(image);
    image.onerror = () => reject(new TryAgain("The image did not load."));
  });
  // Drawings are sharp in every size; photographs have as many pixels as can be shown. A browser does not ask for an address
  // that it already waits for, so another attempt has another one.
  image.src = `${url}?side=${sideInPixels()}${number > 1 ? `&attempt=${number}` : ""}`;
  signal.addEventListener("abort", () => image.complete || image.removeAttribute("src"));
  return loaded;
}

async function loadOnce(url) {
  const image = await insist((signal, number) => fetchImage(url, signal, number));
  sizes.observe(image);
  try {
    await image.decode();
  } catch (cause) {
    throw new TryAgain("The image cannot be decoded.", { cause });
  }
  return image;
}

function keep(url, loading) {
  kept.set(url, loading);
  loading.catch(() => kept.delete(url));
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  return loading;
}

/** Starts to load an image that will be needed soon; a failure is tried again when it is. */
export function prefetch(url) {
  if (!kept.has(url)) keep(url, loadOnce(url)).catch(() => {});
}

/**
 * The decoded image, however long it takes.
 * @param {string} url
 * @param {{failed: (waitMs: number, tryNow: () => void) => void, recovered: () => void}} watcher
 * @returns {Promise<HTMLImageElement>}
 */
export function loadImage(url, watcher) {
  return untilItSucceeds(() => kept.get(url) ?? keep(url, loadOnce(url)), watcher);
}

/**
 * Loads several images at once.
 * @param {string[]} urls
 * @param {{ready: (count: number) => void, failed: (tryNow: () => void) => void,
 *   recovered: () => void}} watcher
 * @returns {Promise<HTMLImageElement[]>}
 */
export async function loadImages(urls, watcher) {
  const waiting = new Map();
  let ready = 0;
  const tryAllNow = () => [...waiting.values()].forEach((tryNow) => tryNow());
  const loadOne = async (url) => {
    const image = await loadImage(url, {
      failed(_waitMs, tryNow) {
        waiting.set(url, tryNow);
        watcher.failed(tryAllNow);
      },
      recovered() {
        if (waiting.delete(url) && waiting.size === 0) watcher.recovered();
      },
    });
    ready += 1;
    watcher.ready(ready);
    return image;
  };
  return Promise.all(urls.map(loadOne));
}

/** The addresses of the images that a task will show. */
export function imagesOf(task) {
  if (task.kind === "memory") return task.images.map((image) => image.url);
  return [task.image?.url, ...(task.prefetch ?? [])].filter(Boolean);
}
