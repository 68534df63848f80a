"""Elements of a page, looked for anew each time they are used."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .page import Page

# Where to press: the middle of an element that is in sight, enabled, at rest, and covered by nothing.
AIM = """
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
BOX = "({ x, y, width, height }) => ({ x, y, width, height })"


class Locator:
    """`nodes` is the expression, in the page's own language, that finds them."""

    def __init__(self, page: "Page", nodes: str) -> None:
        self.page, self.nodes = page, nodes

    def _chained(self, method: str) -> "Locator":
        return Locator(self.page, f"{self.nodes}.{method}")

    # Others from these

    @property
    def first(self) -> "Locator":
        return self._chained("slice(0, 1)")

    @property
    def last(self) -> "Locator":
        return self._chained("slice(-1)")

    def all(self) -> list["Locator"]:
        return [self._chained(f"slice({place}, {place + 1})") for place in range(self.count())]

    def having(self, text: str) -> "Locator":
        return self._chained(f"filter((node) => node.textContent.includes({json.dumps(text)}))")

    def inside(self, selector: str) -> "Locator":
        return self._chained(
            f"flatMap((node) => [...node.querySelectorAll({json.dumps(selector)})])"
        )

    def get_by_text(self, text: str) -> "Locator":
        return self.inside("*")._chained("filter((node) => !node.children.length)").having(text)

    def get_by_role(self, role: str, name: str) -> "Locator":
        assert role == "link", "so far no test has asked for another"
        return self.inside("a[href]").having(name)

    # What is there now

    def evaluate_all(self, expression: str) -> Any:
        return self.page.evaluate(f"() => ({expression})({self.nodes})")

    def count(self) -> int:
        return int(self.evaluate_all("(nodes) => nodes.length"))

    def all_text_contents(self) -> list[str]:
        return list(self.evaluate_all("(nodes) => nodes.map((node) => node.textContent)"))

    def all_inner_texts(self) -> list[str]:
        return list(self.evaluate_all("(nodes) => nodes.map((node) => node.innerText)"))

    def is_any_visible(self) -> bool:
        return bool(self.evaluate_all("(nodes) => nodes.some((node) => node.checkVisibility())"))

    # Of the first of them, which is waited for

    def evaluate(self, expression: str) -> Any:
        self.page.wait_until(self.count, self.nodes)
        return self.evaluate_all(f"([node]) => ({expression})(node)")

    def get_attribute(self, name: str) -> str | None:
        return self.evaluate(f"(node) => node.getAttribute({json.dumps(name)})")

    def text_content(self) -> str:
        return str(self.evaluate("(node) => node.textContent"))

    def inner_text(self) -> str:
        return str(self.evaluate("(node) => node.innerText"))

    def inner_html(self) -> str:
        return str(self.evaluate("(node) => node.innerHTML"))

    def input_value(self) -> str:
        return str(self.evaluate("(node) => node.value"))

    def is_disabled(self) -> bool:
        return bool(self.evaluate("(node) => node.disabled"))

    def bounding_box(self) -> dict[str, float]:
        return dict(self.evaluate(f"(node) => ({BOX})(node.getBoundingClientRect())"))

    def scroll_into_view_if_needed(self) -> None:
        self.evaluate("(node) => node.scrollIntoView()")

    def focus(self) -> None:
        self.evaluate("(node) => { node.focus(); node.select?.(); }")

    # Pressing

    def aim(self) -> tuple[float, float]:
        x, y = self.page.wait_until(lambda: self.evaluate_all(AIM), f"{self.nodes} to press")
        return x, y

    def click(self) -> None:
        self.page.mouse.click(*self.aim())
        self.page.arrive()

    def wait_for(self, state: str = "visible") -> None:
        looks = {
            "visible": self.is_any_visible,
            "attached": self.count,
            "hidden": lambda: not self.is_any_visible(),
            "detached": lambda: not self.count(),
        }
        self.page.wait_until(looks[state], f"{self.nodes} {state}")
