"""How long the pictures of the memory test are really in sight: `python -m bench.exposure`.

Plays rounds in Chromium at full speed and with the CPU slowed down four times, and compares three times of a display:
the planned one, the one that the page reported and the server stored, and the real one, which a script outside of our
code takes from the animation frames: from the first that has the pictures to the first that no longer has them.
"""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from playwright.sync_api import Browser  # noqa: E402 - these need the settings

from tests.browser import records  # noqa: E402
from tests.browser.chromium import running_chromium  # noqa: E402
from tests.browser.conftest import DESKTOP  # noqa: E402
from tests.browser.visitor import Visitor  # noqa: E402
from tests.site import Site, running_site  # noqa: E402
from tests.worker import Worker  # noqa: E402

ROUNDS = 20
SLOWDOWNS = (1, 4)
TOLERANCE_MS = 100
# Rounds of two to five pictures; a wrong order only begins another trial.
STUDY = {
    "memory_trials": 4,
    "memory_min_length": 2,
    "memory_max_length": 6,
    "memory_extra_seconds": 0,
}

# A frame is told apart by what is in the page when it begins: that is what the frame before has painted.
FRAMES = """
(() => {
  window.displays = [];
  let since = null;
  const look = (now) => {
    const isShown = document.querySelector('[data-screen="memory-display"] .tile img') !== null;
    if (isShown && since === null) since = now;
    if (!isShown && since !== null) {
      window.displays.push(now - since);
      since = null;
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""


@dataclass(frozen=True)
class Display:
    planned: float
    stored: float
    real: float


def play(site: Site, browser: Browser, slowdown: int) -> list[Display]:
    slug = site.make_study(**STUDY)
    displays: list[Display] = []
    while len(displays) < ROUNDS:
        displays += one_person(site, browser, slug, slowdown)
    return displays[:ROUNDS]


def one_person(site: Site, browser: Browser, slug: str, slowdown: int) -> list[Display]:
    """Takes every order as it comes back, which is wrong sooner or later, until the memory test ends."""
    visitor = Visitor(browser.new_context(**DESKTOP), f"http://127.0.0.1:{site.port}")
    worker = Worker(slug, site.client())
    worker.go_to("memory")
    visitor.context.add_init_script(FRAMES)
    visitor.open(f"/w/{worker.token}/")
    visitor.pass_check()
    visitor.begin()
    cpu = visitor.context.new_cdp_session(visitor.page)
    cpu.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    play_rounds(visitor)
    real = visitor.page.evaluate("window.displays")
    visitor.context.close()
    rounds = records.memory_rounds(site, worker.token)
    return [
        Display(row.exposure_ms, row.shown_ms or 0.0, seen)
        for row, seen in zip(rounds, real, strict=True)
    ]


def play_rounds(visitor: Visitor) -> None:
    """Presses whatever comes, a round that is played again too, until the next part is introduced."""
    buttons = "#memory-show:enabled, #memory-submit:enabled, #feedback-continue"
    while (button := visitor.page.wait_for_selector(f"{buttons}, #intro-begin")) is not None:
        name = button.get_attribute("id")
        if name == "intro-begin":
            return
        before = visitor.now()
        visitor.page.click(f"#{name}")
        visitor.next_screen(before)


def report(slowdown: int, displays: list[Display]) -> str:
    def deviations(name: str) -> str:
        off = [getattr(display, name) - display.planned for display in displays]
        return f"{name} − planned {statistics.mean(off):+6.1f} ms (most {max(off, key=abs):+6.1f})"

    missed = [d for d in displays if abs(d.real - d.planned) > TOLERANCE_MS]
    marked = sum(abs(display.stored - display.planned) > TOLERANCE_MS for display in missed)
    return (
        f"CPU ×{slowdown}: {deviations('stored')}, {deviations('real')}; {len(missed)} of {len(displays)} rounds "
        f"off by more than {TOLERANCE_MS} ms, {marked} of them stored so"
    )


def main() -> None:
    with running_site(processes=2, threads=4) as site, running_chromium() as browser:
        for slowdown in SLOWDOWNS:
            print(report(slowdown, play(site, browser, slowdown)))


if __name__ == "__main__":
    main()
