/**
 * A timed display by animation frames. What a frame has changed is in sight when the next one begins, so the display lasts
 * from the frame after the one that showed the pictures to the frame after the one that hid them.
 */

import { inSight, isVisible, watchAttention } from "./attention.js";
import { nextFrame } from "./timing.js";

/** A frame of a usual screen, until the real one has been measured. */
const USUAL_FRAME_MS = 1000 / 60;
/** No screen is slower; a busy machine is, and its delays must not end a display before its time. */
const LONGEST_FRAME_MS = 1000 / 24;

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? USUAL_FRAME_MS;
}

/** Lets frames pass for a time, from the start again if the page goes out of sight; resolves with the length of a frame. */
async function fixate(milliseconds) {
  await inSight();
  const first = await nextFrame();
  const lengths = [];
  for (let last = first; last - first < milliseconds; ) {
    const now = await nextFrame();
    // No frames come while the page is out of sight.
    if (now - last > milliseconds) return fixate(milliseconds);
    lengths.push(now - last);
    last = now;
  }
  return Math.min(median(lengths), LONGEST_FRAME_MS);
}

/** Resolves when the page goes out of sight, with the time; never, once it has been told to stop. */
function outOfSight() {
  let stop;
  const left = new Promise((resolve) => {
    const look = () => isVisible() || resolve(performance.now());
    document.addEventListener("visibilitychange", look);
    stop = () => document.removeEventListener("visibilitychange", look);
  });
  return { left, stop };
}

/** Waits for the frame whose end is nearest to the moment at which the display should be over; counts what was dropped. */
async function watchFrames(onset, milliseconds, frame) {
  let dropped = 0;
  for (let last = onset; ; ) {
    const now = await nextFrame();
    dropped += Math.max(0, Math.round((now - last) / frame) - 1);
    last = now;
    if (now + frame - onset >= milliseconds - frame / 2) return dropped;
  }
}

/**
 * Fixation, then the display. A page that goes out of sight ends it at once.
 * @param {{fixationMs: number, exposureMs: number, show: () => void, hide: () => void}} what
 * @returns {Promise<{shown_ms: number, dropped_frames: number, hidden_ms: number, unfocused_ms: number}>}
 */
export async function expose({ fixationMs, exposureMs, show, hide }) {
  const frame = await fixate(fixationMs);
  const attention = watchAttention();
  const away = outOfSight();
  await nextFrame();
  show();
  const leaving = away.left.then((at) => {
    hide();
    return { at };
  });
  const onset = await Promise.race([nextFrame(), leaving.then(({ at }) => at)]);
  const watching = watchFrames(onset, exposureMs, frame).then((dropped) => {
    hide();
    return { dropped };
  });
  const { at, dropped = 0 } = await Promise.race([watching, leaving]);
  const offset = at ?? (await Promise.race([nextFrame(), away.left]));
  away.stop();
  await inSight();
  const { hiddenMs, unfocusedMs } = attention();
  return {
    shown_ms: offset - onset,
    dropped_frames: dropped,
    // However short it was, the pictures were gone.
    hidden_ms: at === undefined ? hiddenMs : Math.max(hiddenMs, 1),
    unfocused_ms: unfocusedMs,
  };
}

/** The device as far as it matters for what can be seen on it. */
export function device() {
  const pointer = ["fine", "coarse"].find((kind) => matchMedia(`(pointer: ${kind})`).matches) ?? "none";
  return {
    window_width: window.innerWidth,
    window_height: window.innerHeight,
    pixel_ratio: window.devicePixelRatio,
    pointer,
  };
}
