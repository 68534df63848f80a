"""The three ways to use a page: by mouse, by finger, and by keyboard alone."""

from collections.abc import Sequence

from playwright.sync_api import Page

from .visitor import Visitor

STEPS_OF_A_DRAG = 6
# Faster synthetic moves of a finger are merged into one.
MS_BETWEEN_TOUCHES = 60

TILES_AT_REST = """
() => document.getElementById("tiles").getAnimations({ subtree: true }).length === 0
"""


class InputMethod:
    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.page: Page = visitor.page
        self.answers_given = 0

    def press(self, selector: str) -> None:
        raise NotImplementedError

    def choose(self, choice: int) -> None:
        """Gives the first or the second class as the answer."""
        self.press(f"#choice-{choice}")

    def move_tile(self, tile: str, source: int, target: int) -> None:
        raise NotImplementedError

    def arrange(self, order: Sequence[str]) -> None:
        self.page.wait_for_selector("#memory-submit:enabled")
        self.visitor.wait_until_settled()
        for target, tile in enumerate(order):
            source = self.visitor.tiles().index(tile)
            if source != target:
                self.move_tile(tile, source, target)
                self.page.wait_for_function(TILES_AT_REST)
        assert self.visitor.tiles() == list(order)

    def centre(self, tile: str) -> tuple[float, float]:
        box = self.page.locator(f'.tile[data-id="{tile}"] .tile-handle').bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def path(self, source: int, target: int) -> list[tuple[float, float]]:
        """Points from the middle of one place to the middle of another."""
        tiles = self.visitor.tiles()
        (x, y), (to_x, to_y) = self.centre(tiles[source]), self.centre(tiles[target])
        parts = [n / STEPS_OF_A_DRAG for n in range(STEPS_OF_A_DRAG + 1)]
        return [(x + (to_x - x) * part, y + (to_y - y) * part) for part in parts]


class Mouse(InputMethod):
    def press(self, selector: str) -> None:
        self.page.click(selector)

    def move_tile(self, tile: str, source: int, target: int) -> None:
        start, *points = self.path(source, target)
        self.page.mouse.move(*start)
        self.page.mouse.down()
        for point in points:
            self.page.mouse.move(*point)
        self.page.mouse.up()


class Touch(InputMethod):
    def press(self, selector: str) -> None:
        self.page.tap(selector)

    def move_tile(self, tile: str, source: int, target: int) -> None:
        # Playwright's touch screen knows taps alone.
        drag = getattr(self.page.touchscreen, "drag", self.drag_by_cdp)
        drag(self.path(source, target))

    def drag_by_cdp(self, path: Sequence[tuple[float, float]]) -> None:
        touch = self.visitor.context.new_cdp_session(self.page)
        start, *points = path

        def send(kind: str, *points: tuple[float, float]) -> None:
            touches = [{"x": x, "y": y} for x, y in points]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

        send("touchStart", start)
        for point in points:
            self.page.wait_for_timeout(MS_BETWEEN_TOUCHES)
            send("touchMove", point)
        self.page.wait_for_timeout(MS_BETWEEN_TOUCHES)
        send("touchEnd")
        touch.detach()


class Keyboard(InputMethod):
    """No pointer at all. Every key that answers is used in turn."""

    ANSWER_KEYS = {1: ("ArrowLeft", "1", "f", "F"), 2: ("ArrowRight", "2", "j", "J")}

    def tab_to(self, selector: str) -> None:
        self.page.wait_for_selector(f"{selector}:enabled")
        for _ in range(60):
            if self.page.locator(selector).evaluate("node => node === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"The Tab key does not lead to {selector}.")

    def press(self, selector: str) -> None:
        self.tab_to(selector)
        self.visitor.wait_until_settled()
        self.answers_given += 1
        self.page.keyboard.press("Enter" if self.answers_given % 2 else "Space")

    def choose(self, choice: int) -> None:
        self.answers_given += 1
        keys = self.ANSWER_KEYS[choice]
        self.page.keyboard.press(keys[self.answers_given % len(keys)])

    def move_tile(self, tile: str, source: int, target: int) -> None:
        self.tab_to(f'.tile[data-id="{tile}"] .tile-handle')
        self.page.keyboard.press("Space")
        for _ in range(abs(target - source)):
            self.page.keyboard.press("ArrowRight" if target > source else "ArrowLeft")
        self.page.keyboard.press("Space")
