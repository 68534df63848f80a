"""A page, seen through WebDriver: waiting, looking and pressing as Playwright's page does it."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .hands import Keyboard, Mouse, Touchscreen
from .locator import Locator
from .proxy import Rule
from .wire import Refused

if TYPE_CHECKING:
    from .context import Context

POLL_SECONDS = 0.03
SCREEN = {"width": 1600, "height": 1200}

# Every look at the page also brings what the page has reported since the last one.
SCRIPT = """
const done = arguments[arguments.length - 1];
const given = arguments[0];
const reports = () => {
  if (location.protocol === "about:") return [];
  const told = sessionStorage.getItem("reports") ?? "[]";
  sessionStorage.removeItem("reports");
  return JSON.parse(told);
};
const all = (selector) => {
  const found = [...document.querySelectorAll(selector.replaceAll(":visible", ""))];
  return selector.includes(":visible") ? found.filter((node) => node.checkVisibility()) : found;
};
const frame = () => new Promise((resolve) => window.requestAnimationFrame(resolve));
(async () => {
  const value = (%s);
  return typeof value === "function" ? value(given) : value;
})().then((value) => done([value ?? null, null, reports()]), (error) => done([null, String(error), reports()]));
"""


class TimedOut(Exception):
    """What was waited for did not come."""


class ScriptFailed(Exception):
    """The page's own error."""


class Value:
    """The result of a wait, in Playwright's wrapping."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def json_value(self) -> Any:
        return self.value


class Page:
    def __init__(self, context: "Context", handle: str) -> None:
        self.context, self.handle = context, handle
        self.wire = context.wire
        self.keyboard = Keyboard(self)
        self.mouse = Mouse(self)
        self.touchscreen = Touchscreen(self)

    # Going somewhere

    def command(self, name: str, **body: Any) -> Any:
        """A command for this page, whichever was in front before."""
        self.bring_to_front()
        try:
            return self.wire.post(name, **body)
        finally:
            self.context.tell_news()

    def bring_to_front(self) -> None:
        if self.context.front != self.handle:
            self.wire.post("/window", handle=self.handle)
            self.context.front = self.handle

    def goto(self, url: str) -> None:
        self.command("/url", url=url)

    def reload(self) -> None:
        self.command("/refresh")

    def go_back(self) -> None:
        self._leave_by("/back")

    def go_forward(self) -> None:
        self._leave_by("/forward")

    def _leave_by(self, command: str) -> None:
        here = self.url
        self.command(command)
        self.wait_until(lambda: self.url != here, f"{command} from {here}")

    @property
    def url(self) -> str:
        self.bring_to_front()
        return str(self.wire.get("/url"))

    # Looking

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        script = SCRIPT % expression.strip().rstrip(";")
        told = self.command("/execute/async", script=script, args=[arg])
        if told is None:
            raise Refused("no answer", "the page has left")
        value, error, reports = told
        self.context.tell_reports(reports)
        if error:
            raise ScriptFailed(error)
        return value

    def wait_until(self, look: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + self.context.timeout_seconds
        while not (found := self._look(look)):
            if time.monotonic() > deadline:
                raise TimedOut(f"{what} at {self.url}")
            time.sleep(POLL_SECONDS)
        return found

    def _look(self, look: Callable[[], Any]) -> Any:
        """Nothing, while one page leaves and the next comes."""
        try:
            return look()
        except Refused:
            return None

    def wait_for_function(self, expression: str, arg: Any = None) -> Value:
        return Value(self.wait_until(lambda: self.evaluate(expression, arg), expression))

    def wait_for_selector(self, selector: str, state: str = "visible") -> Locator:
        found = self.locator(selector)
        found.wait_for(state)
        return found

    def wait_for_timeout(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)
        self.context.tell_news()

    def locator(self, selector: str, has_text: str = "") -> Locator:
        return Locator(self, f"all({json.dumps(selector)})").having(has_text)

    def get_by_role(self, role: str, name: str) -> Locator:
        return self.locator("html").get_by_role(role, name)

    def query_selector(self, selector: str) -> Locator | None:
        found = self.locator(selector)
        return found if found.count() else None

    def eval_on_selector_all(self, selector: str, expression: str) -> Any:
        return self.locator(selector).evaluate_all(expression)

    def get_attribute(self, selector: str, name: str) -> str | None:
        return self.locator(selector).get_attribute(name)

    def text_content(self, selector: str) -> str:
        return self.locator(selector).text_content()

    def inner_html(self, selector: str) -> str:
        return self.locator(selector).inner_html()

    def input_value(self, selector: str) -> str:
        return self.locator(selector).input_value()

    def content(self) -> str:
        return self.inner_html("html")

    def is_disabled(self, selector: str) -> bool:
        return self.locator(selector).is_disabled()

    def is_visible(self, selector: str) -> bool:
        return self.locator(selector).is_any_visible()

    def screenshot(self) -> bytes:
        self.bring_to_front()
        return base64.b64decode(self.wire.get("/screenshot"))

    # Pressing

    def arrive(self) -> None:
        """What was pressed may lead to another page: that one is waited for, as Playwright does."""
        time.sleep(POLL_SECONDS)
        self.wait_until(lambda: not self.context.proxy.pages_on_the_way, "the next page")

    def click(self, selector: str) -> None:
        self.locator(selector).click()

    def dblclick(self, selector: str) -> None:
        self.mouse.click(*self.locator(selector).aim(), times=2)

    def tap(self, selector: str) -> None:
        self.touchscreen.tap(*self.locator(selector).aim())
        self.arrive()

    def fill(self, selector: str, text: str) -> None:
        self.locator(selector).focus()
        self.keyboard.type(text)

    def press(self, selector: str, key: str) -> None:
        self.locator(selector).focus()
        self.keyboard.press(key)
        self.arrive()

    def set_input_files(self, selector: str, path: Path) -> None:
        element = self.command("/element", using="css selector", value=selector)
        (identity,) = element.values()
        self.command(f"/element/{identity}/value", text=str(path))

    # The window

    @property
    def viewport_size(self) -> dict[str, int]:
        width, height = self.evaluate("[innerWidth, innerHeight]")
        return {"width": width, "height": height}

    def set_viewport_size(self, size: dict[str, int]) -> None:
        """A window is larger than its page by what stands around it."""
        for _ in range(3):
            now, window = self.viewport_size, self.wire.get("/window/rect")
            if now == size:
                return
            self.place({side: window[side] + size[side] - now[side] for side in size})
            time.sleep(0.1)
        assert self.viewport_size == size, f"the window stays at {self.viewport_size}"

    def place(self, window: dict[str, int]) -> None:
        """In the middle of the screen, where the pointer rests: a window without it has no focus."""
        x, y = ((SCREEN[side] - window[side]) // 2 for side in ("width", "height"))
        self.command("/window/rect", x=x, y=y, **window)

    # The network and what runs before the page

    def add_init_script(self, script: str) -> None:
        self.context.add_init_script(script)

    def route(self, pattern: str, handler: Callable[..., Any], times: int | None = None) -> None:
        self.context.proxy.rules.insert(0, Rule(pattern, handler, times))

    def unroute(self, pattern: str) -> None:
        rules = self.context.proxy.rules
        rules[:] = [rule for rule in rules if rule.pattern != pattern]

    @contextmanager
    def expect_event(self, event: str, matches: Callable[[Any], bool] = bool) -> Iterator[Any]:
        """Waits at its end for news that come after its beginning."""
        seen: list[Any] = []
        expected = Value(None)
        self.context.on(event, lambda news: seen.append(news) if matches(news) else None)
        yield expected
        look = lambda: (self.evaluate("1"), seen)[1]  # noqa: E731
        expected.value = self.wait_until(look, event)[0]

    def expect_request(self, pattern: str) -> Any:
        return self.expect_event("request", Rule(pattern, print, None).takes_url_of)

    def expect_response(self, pattern: str) -> Any:
        return self.expect_event("response", Rule(pattern, print, None).takes_url_of)
