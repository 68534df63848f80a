"""Takes the figures of docs/people.md from a report: `python -m tests.browser.take_figures REPORT.html`.

The report is what `python -m research people` wrote of the three sets that the page is about.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from .chromium import running_chromium

FOLDER = Path(__file__).parents[2] / "docs" / "images"
SETS = {"trees_1a": "trees", "six_problems": "six problems", "butterflies_five": "butterflies"}
FIGURES = {"by-answers": "people-loss", "calibration-by-answers": "people-calibration"}
# So many look like all of them, in a third of the bytes.
COLOURS = 128
# Puts some figures of the page, found by their files and named anew, beside each other in the place of everything else.
BESIDE_EACH_OTHER = """
named => {
  const figures = Object.entries(named).map(([file, name]) => {
    const figure = document.querySelector(`a[download="${file}"]`).closest("figure").cloneNode(true);
    figure.querySelector("figcaption").remove();
    figure.querySelector("h3").textContent = name;
    figure.style.margin = 0;
    return figure;
  });
  const row = document.createElement("section");
  row.style.cssText =
    "display: grid; grid-template-columns: repeat(3, 1fr); gap: 1.5rem; margin: 0; border: 0; border-radius: 0";
  row.append(...figures);
  document.body.replaceChildren(row);
}
"""


def take(page: Page, report: Path, file: str, picture: str) -> None:
    page.goto(report.resolve().as_uri())
    page.evaluate(
        BESIDE_EACH_OTHER, {f"people-{one}-{file}.csv": name for one, name in SETS.items()}
    )
    taken = Image.open(io.BytesIO(page.locator("section").screenshot()))
    taken.quantize(COLOURS).save(FOLDER / f"{picture}.png", optimize=True)


def main(report: Path) -> None:
    with running_chromium() as browser:
        page = browser.new_page(
            viewport={"width": 1280, "height": 800}, device_scale_factor=1.5, color_scheme="light"
        )
        for file, picture in FIGURES.items():
            take(page, report, file, picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
