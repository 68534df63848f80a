"""Takes every screen of a worker at four sizes, light and dark: `python -m tests.browser.take_screens [screen …]`.

Each screen becomes one sheet in docs/screens: the four windows side by side, light above dark. The images are those of
the demo study.
"""

import io
import json
import os
import sys
from functools import cache
from typing import Any

import django
from PIL import Image
from playwright.sync_api import Browser

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from studies.demo_texts import consent_to  # noqa: E402 - these need the settings
from tests.site import ROOT, Site, running_site  # noqa: E402
from tests.worker import Worker  # noqa: E402

from .chromium import running_chromium  # noqa: E402
from .conftest import DESKTOP, PHONE, QUICK  # noqa: E402
from .screens import SCREENS, Opener  # noqa: E402
from .visitor import Visitor  # noqa: E402

FOLDER = ROOT / "docs" / "screens"
# Who looks at a screen: a mouse at a desk, and a finger on phones that are turned.
DEVICES = (
    (DESKTOP, [(1280, 800)]),
    (PHONE | {"device_scale_factor": 1}, [(390, 844), (360, 640), (844, 390)]),
)
SCHEMES = ("light", "dark")
SCALE, GAP, GROUND, QUALITY = 0.6, 16, "#8a8a84", 78


class Studio:
    """Studies, workers and browsers for an opener, as the fixtures of the tests have them."""

    def __init__(self, site: Site, browser: Browser) -> None:
        self.site, self.browser = site, browser

    @cache  # noqa: B019 - there is one
    def made(self, settings: str) -> str:
        demo = {
            "dataset": "Butterflies",
            "title": "Two butterflies",
            "contact": "butterflies@example.org",
            "consent": consent_to("two"),
            "reward": 4,
        }
        return self.site.make_study(**(QUICK | demo | json.loads(settings)))

    def study(self, **fields: Any) -> str:
        return self.made(json.dumps(fields, sort_keys=True))

    def join(self, stage: str, slug: str = "", answers: int = 0, **parameters: str) -> Worker:
        worker = Worker(slug or self.study(), self.site.client(), **parameters)
        worker.go_to(stage)
        for _ in range(answers):
            worker.answer_current()
        return worker

    def visit(self, path: str = "", **options: Any) -> Visitor:
        context = self.browser.new_context(**(DESKTOP | options))
        visitor = Visitor(context, f"http://127.0.0.1:{self.site.port}")
        if path:
            visitor.open(path)
        return visitor

    def opener(self) -> Opener:
        return Opener(self.site, self.visit, self.join, self.study)


def pictures(opener: Opener, screen: str) -> list[list[Image.Image]]:
    """By scheme, then by window."""
    rows: list[list[Image.Image]] = [[] for _ in SCHEMES]
    for options, sizes in DEVICES:
        visitor = opener(screen, **options)
        for size in sizes:
            for row, scheme in zip(rows, SCHEMES, strict=True):
                row.append(picture(visitor, size, scheme))
        visitor.context.close()
    return rows


def picture(visitor: Visitor, size: tuple[int, int], scheme: Any) -> Image.Image:
    visitor.page.set_viewport_size({"width": size[0], "height": size[1]})
    visitor.page.emulate_media(color_scheme=scheme)
    visitor.page.mouse.move(0, 0)
    visitor.wait_until_settled()
    visitor.finish_animations()
    return Image.open(io.BytesIO(visitor.page.screenshot())).convert("RGB")


def sheet(rows: list[list[Image.Image]]) -> Image.Image:
    small = [[one.resize((round(one.width * SCALE), round(one.height * SCALE)), Image.Resampling.LANCZOS)
              for one in row] for row in rows]  # fmt: skip
    width = sum(one.width + GAP for one in small[0]) + GAP
    heights = [max(one.height for one in row) + GAP for row in small]
    ground = Image.new("RGB", (width, sum(heights) + GAP), GROUND)
    top = GAP
    for row, height in zip(small, heights, strict=True):
        left = GAP
        for one in row:
            ground.paste(one, (left, top))
            left += one.width + GAP
        top += height
    return ground


def write_index() -> None:
    words = "\n".join(f"## {name}\n\n![{name}]({name}.webp)\n" for name in SCREENS)
    sizes = ", ".join(f"{width} × {height}" for _, sizes in DEVICES for width, height in sizes)
    (FOLDER / "README.md").write_text(
        "# Every screen of a worker\n\n"
        f"From left to right {sizes}; light above dark. `python -m tests.browser.take_screens` takes them.\n\n{words}",
        encoding="utf-8",
    )


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    write_index()
    with running_site(processes=2, threads=4) as site, running_chromium() as browser:
        site.python("manage.py", "prepare")
        opener = Studio(site, browser).opener()
        for screen in sys.argv[1:] or SCREENS:
            path = FOLDER / f"{screen}.webp"
            sheet(pictures(opener, screen)).save(path, quality=QUALITY, method=6)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
