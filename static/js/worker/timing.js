/** Time as the eye sees it: from the painted frame, by the monotonic clock. */

/** Resolves at the next animation frame with the time at which that frame began. */
export const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/** Resolves with the time at which what is in the page now has been painted. */
export async function painted() {
  await nextFrame();
  return nextFrame();
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Whole milliseconds since a moment of the same clock. */
export function since(moment) {
  return Math.round(performance.now() - moment);
}
