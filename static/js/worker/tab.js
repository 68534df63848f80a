/**
 * What this tab remembers over a reload: which introductions and feedbacks were seen, and how long
 * a display lasted. Only comfort lives here; the server holds everything that counts.
 */

/** @param {string} name of the session, so that two of them in one tab do not mix */
export function createTab(name) {
  const kept = new Map();
  const fullKey = (key) => `jedi:${name}:${key}`;

  return {
    remember(key, value = "yes") {
      kept.set(key, String(value));
      try {
        sessionStorage.setItem(fullKey(key), String(value));
      } catch {
        // Storage may be switched off: then a reload shows an introduction once more.
      }
    },

    /** @returns {string|null} */
    recall(key) {
      if (kept.has(key)) return kept.get(key);
      try {
        return sessionStorage.getItem(fullKey(key));
      } catch {
        return null;
      }
    },
  };
}
