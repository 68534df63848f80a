/** The live monitor: fetches the page's content every ten seconds, and changes only what has changed. */

const EVERY_MS = 10_000;
const TIMEOUT_MS = 8000;

const live = document.querySelector("[data-news-url]");
const freshness = document.querySelector("[data-freshness]");
let timer = 0;

/**
 * Updates a node to match a fresh one and keeps what is the same, so that focus, selection, scroll and
 * whatever somebody is typing stay where they are.
 */
function update(node, fresh) {
  if (node.nodeName !== fresh.nodeName) {
    node.replaceWith(fresh);
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.data !== fresh.data) node.data = fresh.data;
    return;
  }
  for (const { name } of [...node.attributes]) {
    if (!fresh.hasAttribute(name)) node.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  updateChildren(node, fresh);
}

/** Elements are matched by their id, wherever they have moved: a person's row stays that person's. */
function updateChildren(node, fresh) {
  const wanted = [...fresh.childNodes];
  const ids = new Set(wanted.map(({ id }) => id));
  for (const child of [...node.children]) {
    if (child.id && !ids.has(child.id)) child.remove();
  }
  wanted.forEach((child, place) => {
    const here = node.childNodes[place] ?? null;
    const twin = child.id ? [...node.children].find(({ id }) => id === child.id) : here;
    if (!twin || (twin.id ?? "") !== (child.id ?? "")) {
      node.insertBefore(child, here);
      return;
    }
    if (twin !== here) node.insertBefore(twin, here);
    update(twin, child);
  });
  while (node.childNodes.length > wanted.length) node.lastChild.remove();
}

function say(sentence) {
  freshness.textContent = sentence;
}

async function fetchNews() {
  const reply = await fetch(live.dataset.newsUrl + location.search, {
    cache: "no-store",
    // A redirect leads to the sign-in.
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (reply.type === "opaqueredirect" || [403, 404].includes(reply.status)) return null;
  if (!reply.ok) throw new Error(`The server answered ${reply.status}.`);
  return reply.text();
}

/** @returns {Promise<boolean>} whether it is worth asking again */
async function refresh() {
  let text;
  try {
    text = await fetchNews();
  } catch {
    say("The server cannot be reached; this page keeps trying.");
    return true;
  }
  if (text === null) {
    say("You have been signed out, or can no longer see this study.");
    return false;
  }
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  updateChildren(live, fresh.content);
  say("This page refreshes automatically.");
  return true;
}

async function keepRefreshing() {
  clearTimeout(timer);
  timer = 0;
  // A page out of sight waits; it is refreshed as soon as it is seen again.
  if (document.hidden) return;
  if (await refresh()) {
    clearTimeout(timer);
    timer = setTimeout(keepRefreshing, EVERY_MS);
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) keepRefreshing();
});
say("This page refreshes automatically.");
timer = setTimeout(keepRefreshing, EVERY_MS);
