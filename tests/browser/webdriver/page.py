"""A page, seen through Selenium: it waits, looks and presses as Playwright's page does."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partialmethod
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.wait import WebDriverWait

from .input import Keyboard, Mouse, Touchscreen
from .locator import Locator
from .proxy import Rule

if TYPE_CHECKING:
    from .context import Context

POLL_SECONDS = 0.03
SCREEN = {"width": 1600, "height": 1200}

# Every evaluation also brings what the page has reported since the last one.
SCRIPT = """
const [given, done] = arguments;
const reports = () => {
  if (location.protocol === "about:") return [];
  const kept = sessionStorage.getItem("reports") ?? "[]";
  sessionStorage.removeItem("reports");
  return JSON.parse(kept);
};
const withText = (words) => {
  const wordsOf = (node) => (node.matches("input[type=submit]") ? node.value : node.textContent);
  const has = (node) => wordsOf(node).toLowerCase().includes(words.toLowerCase()) && node.checkVisibility();
  return [...document.body.querySelectorAll("*")].filter((node) => has(node) && ![...node.children].some(has));
};
const all = (selector) => {
  if (selector.startsWith("text=")) return withText(selector.slice("text=".length));
  const found = [...document.querySelectorAll(selector.replaceAll(":visible", ""))];
  return selector.includes(":visible") ? found.filter((node) => node.checkVisibility()) : found;
};
const frame = () => new Promise((resolve) => window.requestAnimationFrame(resolve));
(async () => {
  const value = (%s);
  return typeof value === "function" ? value(given) : value;
})().then((value) => done([value ?? null, null, reports()]), (error) => done([null, String(error), reports()]));
"""


class ScriptFailed(Exception):
    """The page's own error."""


class Page:
    def __init__(self, context: "Context", handle: str) -> None:
        self.context, self.handle = context, handle
        self.keyboard = Keyboard(self)
        self.mouse = Mouse(self)
        self.touchscreen = Touchscreen(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """`page.click(selector)` is short for `page.locator(selector).click()`, and so on."""
        return lambda selector, *values, **named: getattr(self.locator(selector), name)(
            *values, **named
        )

    @property
    def driver(self) -> WebDriver:
        """The browser, with this page in front."""
        self.bring_to_front()
        return self.context.driver

    def bring_to_front(self) -> None:
        if self.context.front != self.handle:
            self.context.driver.switch_to.window(self.handle)
            self.context.front = self.handle

    # Going somewhere

    @property
    def url(self) -> str:
        return str(self.driver.current_url)

    def goto(self, url: str) -> None:
        self.driver.get(url)

    def reload(self) -> None:
        self.driver.refresh()

    def go_back(self) -> None:
        self._leave_by(self.driver.back)

    def go_forward(self) -> None:
        self._leave_by(self.driver.forward)

    def _leave_by(self, button: Callable[[], None]) -> None:
        here = self.url
        button()
        self.wait_until(lambda: self.url != here, "another page")

    # Looking

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        script = SCRIPT % expression.strip().rstrip(";")
        result = self.driver.execute_async_script(script, arg)
        self.context.emit_traffic()
        if result is None:
            raise WebDriverException("The page has left.")
        value, error, reports = result
        self.context.emit_reports(reports)
        if error:
            raise ScriptFailed(error)
        return value

    def wait_until(self, condition: Callable[[], Any], what: str) -> Any:
        """The condition's value as soon as it has one; while one page follows another it has none."""
        seconds = self.context.timeout_seconds
        wait = WebDriverWait(self.context.driver, seconds, POLL_SECONDS, [WebDriverException])
        return wait.until(lambda _driver: condition(), f"Waited for {what}.")

    def wait_for_function(self, expression: str, arg: Any = None) -> Any:
        value = self.wait_until(lambda: self.evaluate(expression, arg), expression)
        return SimpleNamespace(json_value=lambda: value)

    def wait_for_selector(self, selector: str, state: str = "visible") -> Locator:
        found = self.locator(selector)
        found.wait_for(state)
        return found

    def wait_for_timeout(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)

    def locator(self, selector: str) -> Locator:
        return Locator(self, f"all({json.dumps(selector)})")

    def get_by_role(self, role: str, name: str) -> Locator:
        assert role == "link", "so far no test has asked for another"
        return self.locator("a[href]").containing(name)

    def set_input_files(self, selector: str, path: Path) -> None:
        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(str(path))

    # The window

    @property
    def viewport_size(self) -> dict[str, int]:
        width, height = self.evaluate("[innerWidth, innerHeight]")
        return {"width": width, "height": height}

    def set_viewport_size(self, size: dict[str, int]) -> None:
        """A window is larger than its page by what stands around it, and takes a moment to follow."""
        for _ in range(100):
            now, window = self.viewport_size, self.driver.get_window_rect()
            if now == size:
                return
            self._place({side: window[side] + size[side] - now[side] for side in size})
            time.sleep(0.1)
        raise AssertionError(f"The page stays at {now} instead of {size}.")

    def _place(self, window: dict[str, int]) -> None:
        """In the middle of the screen, where the pointer rests: a window without it has no focus."""
        x, y = ((SCREEN[side] - window[side]) // 2 for side in ("width", "height"))
        self.driver.set_window_rect(x, y, **window)

    # The network

    def route(self, pattern: str, handler: Callable[..., Any], times: int | None = None) -> None:
        self.context.proxy.rules.insert(0, Rule(pattern, handler, times))

    def unroute(self, pattern: str) -> None:
        rules = self.context.proxy.rules
        rules[:] = [rule for rule in rules if rule.pattern != pattern]

    @contextmanager
    def expect_event(self, event: str, pattern: str = "*") -> Iterator[Any]:
        """Waits at its end for an event that comes after its beginning."""
        seen: list[Any] = []
        expected = SimpleNamespace()
        self.context.on(event, seen.append)
        yield expected
        expected.value = self.wait_until(lambda: self._first_match(seen, pattern), event)

    def _first_match(self, seen: list[Any], pattern: str) -> Any:
        self.evaluate("null")
        return next((one for one in seen if fnmatchcase(getattr(one, "url", ""), pattern)), None)

    expect_request = partialmethod(expect_event, "request")
    expect_response = partialmethod(expect_event, "response")
