"""Keys and the mouse as WebDriver's actions. Each call is one dispatch; the driver keeps what is held down."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .page import Page

# WebDriver's code points for keys that are no letters.
KEYS = {
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ",
    "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
    "ArrowRight": "\ue014", "ArrowDown": "\ue015",
}  # fmt: skip

DOWN = {"type": "pointerDown", "button": 0}
UP = {"type": "pointerUp", "button": 0}
MS_BETWEEN_TOUCHES = 60


class Keyboard:
    def __init__(self, page: "Page") -> None:
        self.page = page

    def down(self, key: str) -> None:
        self._act("keyDown", key)

    def up(self, key: str) -> None:
        self._act("keyUp", key)

    def press(self, key: str) -> None:
        self._act("keyDown keyUp", key)

    def type(self, text: str) -> None:
        self._act("keyDown keyUp", *text)

    def _act(self, kinds: str, *keys: str) -> None:
        actions = [
            {"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in kinds.split()
        ]
        source = {"type": "key", "id": "keys", "actions": actions}
        self.page.command("/actions", actions=[source])


class Pointer:
    """Something that points at places of the page, as the browser knows it."""

    kind: str

    def __init__(self, page: "Page") -> None:
        self.page = page

    def act(self, *actions: dict[str, Any]) -> None:
        source = {
            "type": "pointer",
            "id": self.kind,
            "parameters": {"pointerType": self.kind},
            "actions": list(actions),
        }
        self.page.command("/actions", actions=[source])


def to(x: float, y: float, milliseconds: int = 0) -> dict[str, Any]:
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": milliseconds}


class Mouse(Pointer):
    kind = "mouse"
    at = (0.0, 0.0)

    def move(self, x: float, y: float, steps: int = 1) -> None:
        (from_x, from_y), self.at = self.at, (x, y)
        parts = [step / steps for step in range(1, steps + 1)]
        self.act(
            *(to(from_x + (x - from_x) * part, from_y + (y - from_y) * part) for part in parts)
        )

    def down(self) -> None:
        self.act(DOWN)

    def up(self) -> None:
        self.act(UP)

    def click(self, x: float, y: float, times: int = 1) -> None:
        self.at = (x, y)
        self.act(to(x, y), *([DOWN, UP] * times))


class Touchscreen(Pointer):
    """WebKitGTK takes a finger for a mouse; Firefox knows it."""

    kind = "touch"

    def tap(self, x: float, y: float) -> None:
        self.act(to(x, y), DOWN, UP)

    def drag(self, way: Sequence[tuple[float, float]]) -> None:
        start, *points = way
        self.act(to(*start), DOWN, *(to(*point, MS_BETWEEN_TOUCHES) for point in points), UP)
