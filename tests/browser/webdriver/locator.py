"""Elements of a page, looked for anew each time they are used."""

import json
from functools import partialmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .page import Page

# The middle of an element that is in sight, enabled, at rest, and covered by nothing.
CLICK_POINT = """
async ([node]) => {
  if (!node || node.disabled || !node.checkVisibility({ visibilityProperty: true })) return null;
  node.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const before = node.getBoundingClientRect();
  await frame();
  await frame();
  const { x, y, width, height } = node.getBoundingClientRect();
  if (x !== before.x || y !== before.y) return null;
  const middle = [x + width / 2, y + height / 2];
  return node.contains(document.elementFromPoint(...middle)) ? middle : null;
}
"""
# As a person does who picks it from the list, which belongs to the system and not to the page.
PICK = """
(node) => {
  node.value = [...node.options].find(({ label }) => label === %s).value;
  for (const kind of ["input", "change"]) node.dispatchEvent(new Event(kind, { bubbles: true }));
}
"""
# What is empty cannot be seen.
IS_SEEN = """
(node) => node.checkVisibility() && [...node.getClientRects()].some(({ width, height }) => width && height)
"""
BOX = "({ x, y, width, height }) => ({ x, y, width, height })"


class Locator:
    """`nodes` is the JavaScript expression that finds them."""

    def __init__(self, page: "Page", nodes: str) -> None:
        self.page, self.nodes = page, nodes

    # Others from these

    def _chained(self, method: str) -> "Locator":
        return Locator(self.page, f"{self.nodes}.{method}")

    @property
    def first(self) -> "Locator":
        return self._chained("slice(0, 1)")

    def all(self) -> list["Locator"]:
        return [self._chained(f"slice({place}, {place + 1})") for place in range(self.count())]

    def containing(self, text: str) -> "Locator":
        return self._chained(f"filter((node) => node.textContent.includes({json.dumps(text)}))")

    def filter(self, has_not_text: str) -> "Locator":
        return self._chained(
            f"filter((node) => !node.textContent.includes({json.dumps(has_not_text)}))"
        )

    # What is there now

    def evaluate_all(self, expression: str) -> Any:
        return self.page.evaluate(f"() => ({expression})({self.nodes})")

    def count(self) -> int:
        return int(self.evaluate_all("(nodes) => nodes.length"))

    def is_visible(self) -> bool:
        return bool(self.evaluate_all(f"(nodes) => nodes.some({IS_SEEN})"))

    def _all_properties(self, name: str) -> list[Any]:
        return list(self.evaluate_all(f"(nodes) => nodes.map((node) => node.{name})"))

    all_text_contents = partialmethod(_all_properties, "textContent")
    all_inner_texts = partialmethod(_all_properties, "innerText")

    def wait_for(self, state: str = "visible") -> None:
        conditions = {
            "visible": self.is_visible,
            "attached": self.count,
            "hidden": lambda: not self.is_visible(),
            "detached": lambda: not self.count(),
        }
        self.page.wait_until(conditions[state], f"{self.nodes} {state}")

    # Of the first of them, which is waited for

    def evaluate(self, expression: str) -> Any:
        self.wait_for("attached")
        return self.evaluate_all(f"([node]) => ({expression})(node)")

    def get_attribute(self, name: str) -> str | None:
        return self.evaluate(f"(node) => node.getAttribute({json.dumps(name)})")

    def bounding_box(self) -> dict[str, float]:
        return dict(self.evaluate(f"(node) => ({BOX})(node.getBoundingClientRect())"))

    def _property(self, name: str) -> Any:
        return self.evaluate(f"(node) => node.{name}")

    text_content = partialmethod(_property, "textContent")
    inner_text = partialmethod(_property, "innerText")
    inner_html = partialmethod(_property, "innerHTML")
    input_value = partialmethod(_property, "value")
    is_disabled = partialmethod(_property, "disabled")

    # Pressing and typing

    def _click_point(self) -> tuple[float, float]:
        what = f"{self.nodes} to be ready for a click"
        return tuple(self.page.wait_until(lambda: self.evaluate_all(CLICK_POINT), what))

    def click(self) -> None:
        self.page.mouse.click(*self._click_point())

    def dblclick(self) -> None:
        self.page.mouse.click(*self._click_point(), times=2)

    def tap(self) -> None:
        self.page.touchscreen.click(*self._click_point())

    def focus(self) -> None:
        self.evaluate("(node) => { node.focus(); node.select?.(); }")

    def fill(self, text: str) -> None:
        self.focus()
        if text:
            self.page.keyboard.type(text)
        else:
            self.page.keyboard.press("Delete")

    def press(self, key: str) -> None:
        self.focus()
        self.page.keyboard.press(key)

    def select_option(self, label: str) -> None:
        self.evaluate(PICK % json.dumps(label))
