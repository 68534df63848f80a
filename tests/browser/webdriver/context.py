"""A visitor's own browser, which shares nothing with another visitor's."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.remote.webdriver import WebDriver

from .page import Page
from .proxy import Request, forward, running_proxy

SCRIPT_SECONDS = 10
# The tab keeps what the page reports until the next evaluation fetches it.
REPORT = """
window.report = (message) => {
  const reports = JSON.parse(sessionStorage.getItem("reports") ?? "[]");
  sessionStorage.setItem("reports", JSON.stringify([...reports, message]));
};
for (const [level, type] of [["warn", "warning"], ["error", "error"]]) {
  const own = console[level];
  console[level] = (...words) => {
    report({ event: "console", type, text: words.join(" ") });
    own.apply(console, words);
  };
}
const reportError = (error) => report({ event: "pageerror", error: String(error) });
addEventListener("error", (event) => event.error && reportError(event.error));
addEventListener("unhandledrejection", ({ reason }) => reportError(reason));
"""
DESKTOP = {"width": 1280, "height": 800}
Listener = Callable[[Any], Any]


@dataclass(frozen=True)
class Preferences:
    """What a person has set in the system, and the browser reads."""

    is_dark: bool
    reduces_motion: bool


# Starts a browser with a folder of its own and this proxy; whatever it needs ends with the stack.
Start = Callable[[ExitStack, Path, int, Preferences], WebDriver]


class Context:
    """The part of Playwright's context that our visitors use. Listeners are called in the test's own thread."""

    def __init__(self, start: Start, preferences: Preferences, viewport: dict[str, int]) -> None:
        self.viewport = viewport
        self.timeout_seconds = 30.0
        self.listeners: dict[str, list[Listener]] = defaultdict(list)
        self.pages: list[Page] = []
        self.request = SimpleNamespace(get=lambda url: forward(Request("GET", url)))
        with ExitStack() as stack:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="jedi-browser-"))
            self.proxy = stack.enter_context(running_proxy())
            self.driver = start(stack, Path(home), self.proxy.server_port, preferences)
            stack.callback(self.driver.quit)
            self.close = stack.pop_all().close
        self.driver.set_script_timeout(SCRIPT_SECONDS)
        self.front = self.driver.current_window_handle
        self.add_init_script(REPORT)

    def set_default_timeout(self, milliseconds: float) -> None:
        self.timeout_seconds = milliseconds / 1000

    def set_offline(self, is_offline: bool) -> None:
        self.proxy.is_offline = is_offline

    def expose_binding(self, name: str, callback: Callable[[Any, Any], Any]) -> None:
        self.on(name, lambda message: callback(None, message))

    def add_init_script(self, script: str) -> None:
        self.proxy.init_scripts.append(script)

    def on(self, event: str, listener: Listener) -> None:
        # What Playwright's context calls a web error is a page error to its pages.
        self.listeners["pageerror" if event == "weberror" else event].append(listener)

    def new_page(self) -> Page:
        if self.pages:
            # Another window, not a tab: what is not in front gets no frames to draw.
            self.driver.switch_to.new_window("window")
            self.front = self.driver.current_window_handle
        page = Page(self, self.front)
        self.pages.append(page)
        page.set_viewport_size(self.viewport)
        return page

    def collect_reports(self) -> None:
        """Playwright's browsers report by themselves; this one has to be asked."""
        for page in self.pages:
            with suppress(WebDriverException):
                page.evaluate("null")

    def emit(self, event: str, payload: Any) -> None:
        for listener in self.listeners[event]:
            listener(payload)

    def emit_traffic(self) -> None:
        """What the proxy has seen since the last time."""
        while not self.proxy.events.empty():
            event, payload = self.proxy.events.get()
            self.emit(event, payload)
            if fault := fault_of(event, payload):
                self.emit("console", SimpleNamespace(type="error", text=fault))

    def emit_reports(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if "event" in message:
                self.emit(message["event"], SimpleNamespace(**message))
            else:
                self.emit("report", message)


def fault_of(event: str, payload: Any) -> str:
    """What Chromium writes on the console about a request that failed."""
    if event == "request" or payload.url.endswith("/favicon.ico"):
        # The browser itself looks for an icon, when a page was left before it could name its own.
        return ""
    if event == "requestfailed":
        return f"Failed to load resource: ERR_BROKEN {payload.url}"
    return f"Failed to load resource: {payload.status} {payload.url}" * (payload.status >= 400)


@contextmanager
def running(start: Start) -> Iterator[Any]:
    """The part of Playwright's browser that our tests use. No browser is left behind at the end."""
    with ExitStack() as stack:

        def new_context(
            viewport: dict[str, int] = DESKTOP,
            color_scheme: str = "light",
            reduced_motion: str = "no-preference",
            **_unknown: Any,
        ) -> Context:
            preferences = Preferences(color_scheme == "dark", reduced_motion == "reduce")
            return stack.enter_context(closing(Context(start, preferences, viewport)))

        yield SimpleNamespace(new_context=new_context)
