/** For how long a page is in sight and in focus. */

export const isVisible = () => document.visibilityState === "visible";

/** Resolves as soon as the page is in sight. */
export function inSight() {
  return new Promise((resolve) => {
    const look = () => {
      if (!isVisible()) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });
}

/** A stop watch for the time in which the page is not what it should be. */
function stopWatch(isAway) {
  let total = 0;
  let since = isAway() ? performance.now() : null;
  return {
    look() {
      if (isAway()) since ??= performance.now();
      else if (since !== null) {
        total += performance.now() - since;
        since = null;
      }
    },
    read: () => total + (since === null ? 0 : performance.now() - since),
  };
}

/** Notes from now on how long the page is out of sight and out of focus; what it returns says so, and ends it. */
export function watchAttention() {
  const hidden = stopWatch(() => !isVisible());
  const unfocused = stopWatch(() => !document.hasFocus());
  const look = () => [hidden, unfocused].forEach((watch) => watch.look());
  const places = [[document, "visibilitychange"], [window, "blur"], [window, "focus"]];
  places.forEach(([place, kind]) => place.addEventListener(kind, look));
  return () => {
    places.forEach(([place, kind]) => place.removeEventListener(kind, look));
    return { hiddenMs: hidden.read(), unfocusedMs: unfocused.read() };
  };
}
