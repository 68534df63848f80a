"""WebKit, the engine of Safari, as WebKitGTK has it: on a display without a screen, under its own driver."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from tests.site import HttpClient, free_port

from .context import Browser, Context, Wishes
from .page import SCREEN
from .wire import HttpWire

LIBRARIES = Path("/usr/lib")
PROGRAM = "*/webkit2gtk-4.1/MiniBrowser"
# Otherwise the buttons around the page keep the window wider than a phone.
SMALL_TOOLBAR = "button, entry { min-width: 0; margin: 0 -9px; padding: 0; }"


class WebKitContext(Context):
    def start(self, stack: ExitStack, wishes: Wishes) -> HttpWire:
        self._write_settings(wishes)
        display = stack.enter_context(running_display())
        port = stack.enter_context(running_driver(self._environment(display)))
        proxy = f"127.0.0.1:{self.proxy.port}"
        arguments = ["--automation", *(["--dark-mode"] if wishes.is_dark else [])]
        capabilities = {
            "webkitgtk:browserOptions": {"binary": find_browser(), "args": arguments},
            "proxy": {"proxyType": "manual", "httpProxy": proxy, "sslProxy": proxy},
        }
        return HttpWire(port, capabilities)

    def _write_settings(self, wishes: Wishes) -> None:
        folder = self.home / "gtk-3.0"
        folder.mkdir()
        (folder / "gtk.css").write_text(SMALL_TOOLBAR)
        moves = int(not wishes.wants_less_motion)
        (folder / "settings.ini").write_text(f"[Settings]\ngtk-enable-animations={moves}\n")

    def _environment(self, display: str) -> dict[str, str]:
        folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), str(self.home))
        return folders | {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "DISPLAY": display,
            "GDK_BACKEND": "x11",
            "GSETTINGS_BACKEND": "memory",
            "NO_AT_BRIDGE": "1",
            # There is no graphics card to draw with.
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "WEBKIT_SKIA_ENABLE_CPU_RENDERING": "1",
        }


def find_browser() -> str:
    found = list(LIBRARIES.glob(PROGRAM))
    if not found or not shutil.which("WebKitWebDriver") or not shutil.which("Xvfb"):
        raise RuntimeError("Install WebKit first: apt-get install webkit2gtk-driver xvfb")
    return str(found[0])


@contextmanager
def running_driver(environment: dict[str, str]) -> Iterator[int]:
    port = free_port()
    command = ["WebKitWebDriver", f"--port={port}"]
    driver = subprocess.Popen(command, env=environment, stdout=DEVNULL, stderr=DEVNULL)
    try:
        wait_until_it_listens(port)
        yield port
    finally:
        driver.terminate()
        driver.wait(30)


def wait_until_it_listens(port: int) -> None:
    for _ in range(200):
        try:
            if json.loads(HttpClient(port).get("/status").content):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("WebKitWebDriver did not start.")


@contextmanager
def running_display() -> Iterator[str]:
    """One for each visitor: of two windows on a display only one has the focus."""
    screen = "{width}x{height}x24".format(**SCREEN)
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=PIPE, stderr=DEVNULL, text=True) as xvfb:
        assert xvfb.stdout is not None
        try:
            yield f":{xvfb.stdout.readline().strip()}"
        finally:
            xvfb.terminate()


@contextmanager
def running_webkit() -> Iterator[Any]:
    find_browser()
    with closing(Browser(WebKitContext)) as browser:
        yield browser
