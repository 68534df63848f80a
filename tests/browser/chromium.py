"""The browser of the tests: the system's own Chromium, without a window."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

# The first has no window to paint, which saves a fifth of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_program(names: Sequence[str], package: str) -> str:
    for name in names:
        if path := shutil.which(name):
            return path
    raise RuntimeError(
        f"No browser on the PATH: the tests look for {', '.join(names)}. "
        f"Install one, for example with: apt-get install {package}"
    )


@contextmanager
def running_chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_program(NAMES, "chromium"), args=FLAGS
        )
        yield browser
        browser.close()
