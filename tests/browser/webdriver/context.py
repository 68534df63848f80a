"""A visitor's own browser, with the events that Playwright's context tells."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .page import Page
from .proxy import Proxy, Request, Response, forwarded, running_proxy
from .wire import Refused, Wire

# What the page reports is kept in the tab until a look at the page fetches it.
REPORT = """
window.report = (news) => {
  const told = JSON.parse(sessionStorage.getItem("reports") ?? "[]");
  sessionStorage.setItem("reports", JSON.stringify([...told, news]));
};
for (const level of ["warn", "error"]) {
  const own = console[level];
  console[level] = (...words) => {
    report({ console: level, words: words.join(" ") });
    own.apply(console, words);
  };
}
addEventListener("error", (event) => event.error && report({ pageError: String(event.error) }));
addEventListener("unhandledrejection", ({ reason }) => report({ pageError: String(reason) }));
"""
LEVELS = {"warn": "warning", "error": "error"}
DESKTOP = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Wishes:
    """What a person has set in the system, and the browser reads."""

    is_dark: bool
    wants_less_motion: bool


@dataclass(frozen=True)
class Message:
    """A line on the console."""

    type: str
    text: str


@dataclass(frozen=True)
class PageError:
    error: str


class Beside:
    """A request beside the page."""

    def get(self, url: str) -> Response:
        return forwarded(Request("GET", url))


class Context:
    """Shares nothing with another visitor's."""

    def __init__(self, wishes: Wishes, viewport: dict[str, int]) -> None:
        self.viewport = viewport
        self.timeout_seconds = 30.0
        self.listeners: dict[str, list[Callable[[Any], Any]]] = {}
        self.binding: Callable[[Any, Any], Any] = lambda source, news: None
        self.pages: list[Page] = []
        with ExitStack() as stack:
            self.home = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="jedi-browser-"))
            )
            self.proxy: Proxy = stack.enter_context(running_proxy())
            self.wire = self.start(stack, wishes)
            stack.callback(self.wire.end)
            self.closing = stack.pop_all()
        self.front = str(self.wire.get("/window"))
        self.proxy.first_scripts.append(REPORT)

    def start(self, stack: ExitStack, wishes: Wishes) -> Wire:
        """Starts the browser and whatever it needs; all of it ends with the stack."""
        raise NotImplementedError

    # As Playwright has it

    def set_default_timeout(self, milliseconds: float) -> None:
        self.timeout_seconds = milliseconds / 1000

    def expose_binding(self, name: str, callback: Callable[[Any, Any], Any]) -> None:
        assert name == "report", "the page has this one way to tell something"
        self.binding = callback

    def add_init_script(self, script: str) -> None:
        self.proxy.first_scripts.append(script)

    def on(self, event: str, listener: Callable[[Any], Any]) -> None:
        self.listeners.setdefault(event, []).append(listener)

    @property
    def request(self) -> Beside:
        return Beside()

    def set_offline(self, is_offline: bool) -> None:
        self.proxy.is_offline = is_offline

    def new_page(self) -> Page:
        if self.pages:
            # Another window, not a tab: what is not in front gets no frames to draw.
            self.front = self.wire.post("/window/new", type="window")["handle"]
            self.wire.post("/window", handle=self.front)
        page = Page(self, self.front)
        self.pages.append(page)
        page.set_viewport_size(self.viewport)
        return page

    def close(self) -> None:
        self.closing.close()

    def hear_out(self) -> None:
        """Fetches what pages have reported and nobody has asked for yet."""
        for page in self.pages:
            with suppress(Refused):
                page.evaluate("null")

    # News, always told in the test's own thread

    def tell(self, event: str, news: Any) -> None:
        for listener in self.listeners.get(event, []):
            listener(news)

    def tell_news(self) -> None:
        """What the network has said since the last time."""
        while not self.proxy.news.empty():
            event, news = self.proxy.news.get()
            self.tell(event, news)
            if fault := fault_of(event, news):
                self.tell("console", Message("error", fault))

    def tell_reports(self, reports: list[dict[str, Any]]) -> None:
        for news in reports:
            if "pageError" in news:
                self.tell("weberror", PageError(news["pageError"]))
                self.tell("pageerror", PageError(news["pageError"]))
            elif "console" in news:
                self.tell("console", Message(LEVELS[news["console"]], news["words"]))
            else:
                self.binding(None, news)


def fault_of(event: str, news: Any) -> str:
    """What Chromium writes on the console about a request that failed."""
    if event in {"broken", "response"} and news.url.endswith("/favicon.ico"):
        # Looked for by the browser itself, when a page was left before it could name its own.
        return ""
    if event == "broken":
        return f"Failed to load resource: ERR_BROKEN {news.url}"
    if event == "response" and news.status >= 400:
        return f"Failed to load resource: {news.status} {news.url}"
    return ""


class Browser:
    """The browser as far as Playwright's has it: it makes contexts."""

    def __init__(self, make_context: Callable[[Wishes, dict[str, int]], Context]) -> None:
        self.make_context = make_context
        self.contexts: list[Context] = []

    def new_context(
        self,
        viewport: dict[str, int] = DESKTOP,
        color_scheme: str = "light",
        reduced_motion: str = "no-preference",
        **_unknown: Any,
    ) -> Context:
        wishes = Wishes(color_scheme == "dark", reduced_motion == "reduce")
        context = self.make_context(wishes, viewport)
        self.contexts.append(context)
        return context

    def close(self) -> None:
        """Leaves no browser behind; those that were closed already have nothing left to do."""
        for context in self.contexts:
            context.close()
