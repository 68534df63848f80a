"""Takes the pictures of the documentation from the demo study: `python -m tests.browser.take_pictures`."""

import io
import os
import random
from typing import Any

import django
from PIL import Image, ImageDraw
from playwright.sync_api import Browser

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from tests.site import ROOT, Site, running_site  # noqa: E402 - these need the settings
from tests.worker import Worker  # noqa: E402

from . import records  # noqa: E402
from .chromium import running_chromium  # noqa: E402
from .conftest import DESKTOP, PHONE  # noqa: E402
from .researcher import MAKE_A_RESEARCHER, sign_in  # noqa: E402
from .visitor import Visitor  # noqa: E402

FOLDER = ROOT / "docs" / "images"
STUDY = "demo"
PHONE_HEIGHT, GAP, CORNER, GROUND = 800, 40, 28, "#f5f1e7"
MAKE_THE_STUDY_THEIRS = """
from studies.models import Study
Study.objects.update(owner=user)
"""
WIDE_DESKTOP = {"viewport": {"width": 1440, "height": 900}}


class Bot:
    """A worker who restores so many pictures, and is right more often the longer the session lasts."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site = site
        self.random = random.Random(seed)
        self.worker = Worker(STUDY, site.client())
        self.lengths = [self.random.randint(3, 7) for _ in range(3)]

    def choose(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["kind"] == "consent":
            return {"agree": True}
        if task["kind"] == "memory":
            order = self.worker.restored(task, self.lengths)
            return {"order": order, "response_ms": 4000.0}
        right, wrong = self.labels(task)
        skill = 0.85 if task["kind"] == "evaluation" else 0.5 + 0.01 * task["step"]
        return {"label": right if self.random.random() < skill else wrong, "response_ms": 1500.0}

    def labels(self, task: dict[str, Any]) -> tuple[str, str]:
        """The right class of the task's image and the other one."""
        rows = {"teaching": records.teaching_steps, "evaluation": records.evaluation_items}
        stored = rows[task["kind"]](self.site, self.worker.token)
        right = next(row.label for row in stored if row.position == task["position"])
        names = self.site.rows("SELECT display_name FROM studies_imageclass")
        return right, next(name for (name,) in names if name != right)

    def go_to(self, stage: str, answers: int = 0) -> "Bot":
        self.worker.go_to(stage, self.choose)
        for _ in range(answers):
            self.worker.answer_current(self.choose)
        return self


class Camera:
    def __init__(self, site: Site, browser: Browser, **options: Any) -> None:
        self.site, self.browser, self.options = site, browser, options

    def visitor(self) -> Visitor:
        context = self.browser.new_context(**self.options)
        return Visitor(context, f"http://127.0.0.1:{self.site.port}")

    def at(self, bot: Bot) -> Visitor:
        visitor = self.visitor()
        visitor.open(f"/w/{bot.worker.token}/")
        return visitor

    def take(self, visitor: Visitor) -> Image.Image:
        visitor.page.mouse.move(0, 0)
        visitor.wait_until_settled()
        visitor.finish_animations()
        picture = Image.open(io.BytesIO(visitor.page.screenshot()))
        visitor.context.close()
        return picture.convert("RGB")

    def memory(self) -> Image.Image:
        bot = Bot(self.site, 1)
        bot.lengths = [7, 7, 7]
        visitor = self.at(bot.go_to("memory", answers=4))
        visitor.pass_check()
        visitor.begin()
        visitor.page.click("#memory-show:enabled")
        visitor.page.wait_for_selector("#memory-submit:enabled")
        return self.take(visitor)

    def teaching(self, *, with_feedback: bool = False) -> Image.Image:
        bot = Bot(self.site, 2).go_to("teaching", answers=8)
        visitor = self.at(bot)
        visitor.page.click("#feedback-continue")
        visitor.look_at_the_picture()
        if with_feedback:
            _, wrong = bot.labels(bot.worker.task())
            visitor.page.click(f'[data-label="{wrong}"]')
            visitor.page.wait_for_selector("#feedback-continue:enabled")
        return self.take(visitor)

    def evaluation(self) -> Image.Image:
        visitor = self.at(Bot(self.site, 3).go_to("evaluation", answers=41))
        visitor.look_at_the_picture()
        return self.take(visitor)

    def done(self) -> Image.Image:
        visitor = self.at(Bot(self.site, 4).go_to("done"))
        visitor.see("done")
        return self.take(visitor)

    def admin(self) -> Image.Image:
        for seed in range(10, 16):
            Bot(self.site, seed).go_to("done")
        self.site.python("-c", MAKE_A_RESEARCHER + MAKE_THE_STUDY_THEIRS)
        visitor = self.visitor()
        sign_in(visitor)
        visitor.open("/admin/studies/participant/?study__id__exact=1")
        return self.take(visitor)


def side_by_side(pictures: list[Image.Image]) -> Image.Image:
    """Phones with round corners, next to each other on the ground of the product's pages."""
    width = round(pictures[0].width * PHONE_HEIGHT / pictures[0].height)
    phone = (width, PHONE_HEIGHT)
    mask = Image.new("L", (4 * width, 4 * PHONE_HEIGHT))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, *mask.size), 4 * CORNER, fill=255)
    size = (len(pictures) * (width + GAP) + GAP, PHONE_HEIGHT + 2 * GAP)
    sheet = Image.new("RGB", size, GROUND)
    for number, picture in enumerate(pictures):
        place = (GAP + number * (width + GAP), GAP)
        sheet.paste(picture.resize(phone), place, mask.resize(phone))
    return sheet


def save(picture: Image.Image, name: str) -> None:
    path = FOLDER / f"{name}.png"
    picture.quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")  # noqa: T201


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with running_site(processes=2, threads=4) as site, running_chromium() as browser:
        site.python("manage.py", "prepare")
        desk = Camera(site, browser, **DESKTOP)
        save(desk.memory(), "memory")
        save(desk.teaching(), "teaching")
        save(desk.teaching(with_feedback=True), "feedback")
        save(desk.evaluation(), "evaluation")
        save(desk.done(), "done")
        pocket = Camera(site, browser, **PHONE, color_scheme="dark")
        phones = [pocket.memory(), pocket.teaching(), pocket.teaching(with_feedback=True)]
        save(side_by_side(phones), "phone")
        save(Camera(site, browser, **WIDE_DESKTOP).admin().resize((1280, 800)), "admin")


if __name__ == "__main__":
    main()
