"""A person at a browser: opens pages, waits for screens, and notes everything that is not as it should be."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Route

# Runs before anything of the page: tells every screen as it appears, and what the policy refused.
OBSERVER = """
(() => {
  document.addEventListener("securitypolicyviolation", (event) =>
    report({ fault: `refused by the policy: ${event.violatedDirective} ${event.blockedURI}` }));
  let lastScreen = "";
  let lastProgress = "";
  const look = () => {
    const root = document.querySelector("[data-screen]");
    const screen = root && `${root.dataset.screen} ${root.dataset.position ?? ""}`;
    if (root && screen !== lastScreen) {
      lastScreen = screen;
      const pictures = [...root.querySelectorAll(".tile img")];
      report({
        screen: root.dataset.screen,
        position: Number(root.dataset.position ?? 0),
        pictures: pictures.map((picture) => new URL(picture.src).pathname.split("/").pop()),
        areDecoded: pictures.every((picture) => picture.complete && picture.naturalWidth > 0),
      });
    }
    const parts = [...document.querySelectorAll("#progress [data-stage]")];
    const progress = parts.map(({ dataset }) => [dataset.stage, dataset.done, dataset.total ?? ""]);
    if (parts.length && String(progress) !== lastProgress) {
      lastProgress = String(progress);
      report({ progress });
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})();
"""

SCREEN_OTHER_THAN = """
(before) => {
  const root = document.querySelector("[data-screen]");
  const now = root && `${root.dataset.screen} ${root.dataset.position ?? ""}`;
  const isSettling = document.querySelector("[data-settling]") !== null;
  return now && !now.startsWith("loading") && now !== before && !isSettling && now;
}
"""

# A screen takes no press in its first moments.
SETTLED = "() => document.querySelector('[data-settling]') === null"

# As a person does who looks at another tab for a moment.
LOOK_AWAY = """
() => {
  const see = (state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  see("hidden");
  see("visible");
}
"""


TIMEOUT_MS = 30_000


class Visitor:
    """One browser of one person. Further pages of it are tabs."""

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.context = context
        self.base_url = base_url
        self.faults: list[str] = []
        self.screens: list[dict[str, Any]] = []
        self.progress: list[list[list[str]]] = []
        self.requests: list[Request] = []
        context.set_default_timeout(TIMEOUT_MS)
        context.expose_binding("report", self._note_report)
        context.add_init_script(OBSERVER)
        context.on("request", self._note_request)
        context.on("console", self._note_console)
        context.on("weberror", lambda error: self.faults.append(f"page error: {error.error}"))
        self.page: Page = context.new_page()

    def _note_report(self, _source: Any, news: dict[str, Any]) -> None:
        if "fault" in news:
            self.faults.append(news["fault"])
        elif "progress" in news:
            self.progress.append(news["progress"])
        else:
            self.screens.append(news)

    def _note_request(self, request: Request) -> None:
        self.requests.append(request)
        if not request.url.startswith((self.base_url + "/", "data:", "blob:")):
            self.faults.append(f"request to another host: {request.url}")

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"console {message.type}: {message.text}")

    def collect_reports(self) -> None:
        """Playwright reports everything at once; WebDriver has to be asked."""
        if collect := getattr(self.context, "collect_reports", None):
            collect()

    def wait_for_faults(self, *patterns: str) -> None:
        """Waits until a fault of each kind has been noted: the browser tells them when it comes to it."""
        missing = list(patterns)
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while missing:
            assert time.monotonic() < deadline, f"not among {self.faults}: {missing}"
            self.page.wait_for_timeout(20)
            self.collect_reports()
            missing = [p for p in patterns if not re.search(p, "\n".join(self.faults))]

    @contextmanager
    def expecting(self, pattern: str) -> Iterator[None]:
        """For trouble that the test makes: the browser itself writes of failed requests to the console."""
        before = len(self.faults)
        yield
        self.collect_reports()
        new = [fault for fault in self.faults[before:] if not re.search(pattern, fault)]
        self.faults[before:] = new

    @contextmanager
    def holding_replies(self, pattern: str) -> Iterator[None]:
        """However slow the machine is, what is done meanwhile finds the page still waiting for its reply."""
        held: list[Route] = []
        self.page.route(pattern, lambda route: held.append(route))
        with self.page.expect_request(pattern):
            yield
        while not held:
            self.page.wait_for_timeout(10)
        for route in held:
            route.continue_()
        self.page.unroute(pattern)

    def new_tab(self) -> "Visitor":
        """The same browser seen through another page."""
        tab = object.__new__(Visitor)
        tab.__dict__ = self.__dict__ | {"page": self.context.new_page()}
        return tab

    def open(self, path: str) -> None:
        self.page.goto(self.base_url + path)

    # Screens

    def now(self) -> str:
        """The name and the position of the screen in sight."""
        return self.next_screen("")

    def next_screen(self, before: str) -> str:
        """Waits for a screen other than this one."""
        return str(self.page.wait_for_function(SCREEN_OTHER_THAN, arg=before).json_value())

    def see(self, screen: str) -> None:
        self.page.wait_for_selector(f'[data-screen="{screen}"]')

    def see_position(self, screen: str, position: int) -> None:
        self.page.wait_for_selector(f'[data-screen="{screen}"][data-position="{position}"]')

    @property
    def position(self) -> int:
        return int(self.page.get_attribute("[data-position]", "data-position") or 0)

    @property
    def token(self) -> str:
        return self.page.url.rstrip("/").rpartition("/")[2]

    def text(self, selector: str) -> str:
        return self.page.text_content(selector) or ""

    def announced(self, words: str) -> None:
        self.page.wait_for_function(
            "words => document.getElementById('announcer').textContent.includes(words)", arg=words
        )

    def look_at_the_picture(self) -> None:
        """Waits until an answer counts."""
        self.page.wait_for_selector("#choice-1:enabled")
        self.wait_until_settled()

    def wait_until_settled(self) -> None:
        """Waits until the screen takes presses; a click waits by itself, a key does not."""
        self.page.wait_for_function(SETTLED)

    def look_away(self) -> None:
        """The page is out of sight for a moment."""
        self.page.evaluate(LOOK_AWAY)

    def finish_animations(self) -> None:
        """What moves or fades is where it will be; what stands still, as a paused time bar, stays so."""
        self.page.evaluate(
            "() => document.getAnimations().forEach((a) => a.playState === 'paused' || a.finish())"
        )

    def wait_until_loaded(self, url: str) -> None:
        """Waits for something that the page loads ahead of its use."""
        self.page.wait_for_function(
            "url => performance.getEntries().some((entry) => entry.name.split('?')[0].endsWith(url))",
            arg=url,
        )

    def requests_of(self, url: str) -> list[Request]:
        """How often something was asked for, in whatever size."""
        return [request for request in self.requests if request.url.split("?")[0].endswith(url)]

    def classes(self) -> list[str]:
        return [str(self.page.get_attribute(f"#choice-{n}", "data-label")) for n in (1, 2)]

    def tiles(self) -> list[str]:
        """The pictures of the memory test in the order in which they lie now."""
        tiles = self.page.locator("#tiles .tile")
        return list(tiles.evaluate_all("tiles => tiles.map((tile) => tile.dataset.id)"))

    def shown_order(self, position: int) -> list[str]:
        """The pictures as this person saw them in the timed display."""
        displays = self.displays(position)
        assert displays, f"the pictures of position {position} were never shown"
        return displays[-1]["pictures"]

    def displays(self, position: int) -> list[dict[str, Any]]:
        return [
            seen
            for seen in self.screens
            if seen["screen"] == "memory-display" and seen["position"] == position
        ]

    # What takes a person past a screen, for tests that are about another one

    def pass_check(self) -> None:
        self.see("check")
        self.page.click("#check-continue")

    def pass_last_feedback(self) -> None:
        """A new browser shows the feedback of the last teaching step again."""
        self.see("teaching-feedback")
        self.page.click("#feedback-continue:enabled")

    def see_the_pictures(self) -> None:
        """From a round that is ready to the pictures in their order."""
        self.page.click("#memory-show:enabled")
        self.see("memory-display")

    def come_to_the_recall(self) -> None:
        """From a round that is ready to putting its pictures in order, without waiting until a display is over: a round
        that is disturbed a second time goes on."""
        self.see_the_pictures()
        self.look_away()
        self.page.click("#feedback-continue")
        self.see_the_pictures()
        self.look_away()
        self.page.wait_for_selector("#memory-submit:enabled")

    def enter(self) -> str:
        """From the door of a study to the question of consent; returns the session's token."""
        self.page.click("#entry-begin")
        self.see("consent")
        return self.token

    def begin(self) -> None:
        first = self.page.wait_for_selector("#intro-begin, #feedback-continue:enabled")
        if first and first.get_attribute("id") == "feedback-continue":
            self.pass_last_feedback()
        self.page.click("#intro-begin")

    def answer(self, choice: int = 1) -> None:
        self.look_at_the_picture()
        self.page.click(f"#choice-{choice}")
