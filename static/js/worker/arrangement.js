/** Where an image and its buttons stand: the image gets what the window has, and every button stays in sight. */

/** Widths that the buttons may have beside the image, in rem. */
const PANEL_WIDTHS = [13, 16, 20, 25, 31, 38];
/** Of several that are as good, the widest up to this one. */
const WIDEST_WANTED = 25;
const MOST_COLUMNS = 6;
/** Below this, or this share of the height beside the buttons, an image is too small, and the buttons rather scroll. */
const SMALLEST_IMAGE_PX = 100;
const SMALLEST_SHARE = 0.35;
/** Where buttons scroll, there are two in a row of a window that is narrower, and three in any other. */
const NARROW_PX = 480;
/** What has to stay free above and below the buttons together. */
const EDGE_PX = 8;
/** An image that is smaller by less than this is as good: then the roomier buttons win. */
const AS_GOOD = 0.97;
/** Names that are broken in the middle of a word are avoided as long as the image keeps this much of its side. */
const WORTH_WHOLE_WORDS = 0.6;

/** @type {Map<string, object>} of this window and these words: looking costs a dozen layouts */
const known = new Map();

function candidates(count) {
  const most = Math.min(count, MOST_COLUMNS);
  // Two stay side by side: the left and the right arrow answer them.
  const columns = count === 2 ? [2] : Array.from({ length: most }, (_, index) => index + 1);
  const below = columns.map((number) => ({ layout: "below", columns: number, panel: 0 }));
  const beside = PANEL_WIDTHS.flatMap((panel) => columns.map((number) => ({ layout: "beside", columns: number, panel })));
  return [...below, ...beside];
}

function apply(root, { layout, columns, panel, most = null }) {
  root.dataset.layout = layout;
  root.style.setProperty("--columns", String(columns));
  root.style.setProperty("--panel", `${panel}rem`);
  if (most === null) root.style.removeProperty("--most");
  else root.style.setProperty("--most", `${most}px`);
}

const widthOfName = (button) => button.querySelector(".choice-name").getBoundingClientRect().width;

function widthInside(button) {
  const { paddingLeft, paddingRight } = getComputedStyle(button);
  return button.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) + 1;
}

const fits = ({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1;

/** The side of a square image with this candidate, whether all is in sight, and whether a name is broken within a word. */
function measure(root, { room, panel, choices }, candidate) {
  apply(root, candidate);
  const image = room.getBoundingClientRect();
  const isWhole = fits(root) && fits(choices) && panel.offsetHeight + EDGE_PX <= root.clientHeight;
  choices.classList.add("is-unbroken");
  const isBroken = [...choices.children].some((one) => widthOfName(one) > widthInside(one));
  choices.classList.remove("is-unbroken");
  return { ...candidate, side: Math.min(image.width, image.height), isWhole, isBroken };
}

const sideOf = (found) => Math.max(...found.map(({ side }) => side));

function roomiest(found) {
  const good = found.filter(({ side }) => side >= AS_GOOD * sideOf(found));
  const isRoomier = (other, one) => other.panel > one.panel && other.panel <= WIDEST_WANTED;
  return good.reduce((one, other) => (isRoomier(other, one) ? other : one));
}

/** No way to see everything at once: the buttons scroll under, or beside, an image of a fair size. */
function scrolling(root, count) {
  const { clientWidth: width, clientHeight: height } = root;
  const columns = count === 2 || width < NARROW_PX ? 2 : 3;
  const padding = 2 * parseFloat(getComputedStyle(root).paddingTop);
  if (width > height) return { layout: "beside", columns, panel: width / 2 / 16, most: height - padding };
  return { layout: "below", columns, panel: 0, most: Math.max(height - padding - SMALLEST_IMAGE_PX - 12, height / 2) };
}

function choose(root, parts) {
  const found = candidates(parts.count).map((candidate) => measure(root, parts, candidate));
  const least = { below: SMALLEST_IMAGE_PX, beside: Math.max(SMALLEST_IMAGE_PX, SMALLEST_SHARE * root.clientHeight) };
  const whole = found.filter(({ side, isWhole, layout }) => isWhole && side >= least[layout]);
  if (!whole.length) return scrolling(root, parts.count);
  const unbroken = whole.filter(({ side, isBroken }) => !isBroken && side >= WORTH_WHOLE_WORDS * sideOf(whole));
  return roomiest(unbroken.length ? unbroken : whole);
}

/**
 * Arranges a screen of an image and its buttons now and whenever its window changes.
 * @param {HTMLElement} root
 * @param {{room: HTMLElement, panel: HTMLElement, choices: HTMLElement, count: number, words: string}} parts
 */
export function arrange(root, parts) {
  root.style.setProperty("--count", String(parts.count));
  const look = () => {
    const window = `${root.clientWidth}×${root.clientHeight} ${parts.words}`;
    if (!known.has(window)) known.set(window, choose(root, parts));
    apply(root, known.get(window));
  };
  look();
  new ResizeObserver(look).observe(root);
}
