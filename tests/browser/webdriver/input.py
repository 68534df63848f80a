"""Keys, the mouse and a finger. Each call is one dispatch; the browser keeps what is held down."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.key_actions import KeyActions
from selenium.webdriver.common.actions.pointer_actions import PointerActions
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.keys import Keys

if TYPE_CHECKING:
    from .page import Page

MS_BETWEEN_TOUCHES = 60
DOWN, UP = PointerActions.pointer_down, PointerActions.pointer_up


def to(x: float, y: float) -> Callable[[PointerActions], Any]:
    return lambda pointer: pointer.move_to_location(x, y)


def key_code(name: str) -> str:
    """Playwright's "ArrowLeft" is Selenium's ARROW_LEFT; a letter is itself."""
    return getattr(Keys, re.sub(r"\B([A-Z])", r"_\1", name).upper(), name)


class Keyboard:
    def __init__(self, page: "Page") -> None:
        self.page = page

    def down(self, key: str) -> None:
        self._perform(KeyActions.key_down, key_code(key))

    def up(self, key: str) -> None:
        self._perform(KeyActions.key_up, key_code(key))

    def press(self, key: str) -> None:
        self.type(key_code(key))

    def type(self, text: str) -> None:
        self._perform(KeyActions.send_keys, text)

    def _perform(self, action: Callable[[KeyActions, str], Any], keys: str) -> None:
        actions = ActionBuilder(self.page.driver)
        action(actions.key_action, keys)
        actions.perform()


class Pointer:
    """Something that points at places of the page, as the browser knows it."""

    kind: str

    def __init__(self, page: "Page") -> None:
        self.page = page

    def _perform(self, *actions: Callable[[PointerActions], Any], milliseconds: int = 0) -> None:
        """A move takes so many milliseconds."""
        device = PointerInput(self.kind, self.kind)
        builder = ActionBuilder(self.page.driver, mouse=device, duration=milliseconds)
        for action in actions:
            action(builder.pointer_action)
        builder.perform()

    def click(self, x: float, y: float, times: int = 1) -> None:
        self._perform(to(x, y), *([DOWN, UP] * times))


class Mouse(Pointer):
    kind = "mouse"

    def down(self) -> None:
        self._perform(DOWN)

    def up(self) -> None:
        self._perform(UP)

    def move(self, x: float, y: float) -> None:
        self._perform(to(x, y))


class Touchscreen(Pointer):
    """WebKitGTK takes a finger for a mouse; Firefox knows it."""

    kind = "touch"

    def drag(self, path: Sequence[tuple[float, float]]) -> None:
        start, *points = (to(*point) for point in path)
        self._perform(start, DOWN, *points, UP, milliseconds=MS_BETWEEN_TOUCHES)
