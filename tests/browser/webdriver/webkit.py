"""WebKit, the engine of Safari, as WebKitGTK has it: on a display without a screen."""

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE

from selenium.webdriver import Proxy, WebKitGTK, WebKitGTKOptions
from selenium.webdriver.webkitgtk.service import Service

from .context import Preferences
from .page import SCREEN

LIBRARIES = Path("/usr/lib")
PROGRAM = "*/webkit2gtk-4.1/MiniBrowser"
# Otherwise the buttons around the page keep the window wider than a phone.
SMALL_TOOLBAR = "button, entry { min-width: 0; margin: 0 -9px; padding: 0; }"


def start_webkit(
    stack: ExitStack, home: Path, proxy_port: int, preferences: Preferences
) -> WebKitGTK:
    write_settings(home, preferences)
    options = WebKitGTKOptions()
    options.binary_location = find_browser()
    options.add_argument("--automation")
    if preferences.is_dark:
        options.add_argument("--dark-mode")
    proxy = f"127.0.0.1:{proxy_port}"
    options.proxy = Proxy({"proxyType": "manual", "httpProxy": proxy, "sslProxy": proxy})
    display = stack.enter_context(running_display())
    with warnings.catch_warnings():
        # Selenium warns of the way in which this class of its own connects.
        warnings.simplefilter("ignore", DeprecationWarning)
        return WebKitGTK(options, Service(env=environment(home, display)))


def find_browser() -> str:
    found = list(LIBRARIES.glob(PROGRAM))
    if not found or not shutil.which("WebKitWebDriver") or not shutil.which("Xvfb"):
        raise RuntimeError("Install WebKit first: apt-get install webkit2gtk-driver xvfb")
    return str(found[0])


def write_settings(home: Path, preferences: Preferences) -> None:
    folder = home / "gtk-3.0"
    folder.mkdir()
    (folder / "gtk.css").write_text(SMALL_TOOLBAR)
    moves = int(not preferences.reduces_motion)
    (folder / "settings.ini").write_text(f"[Settings]\ngtk-enable-animations={moves}\n")


def environment(home: Path, display: str) -> dict[str, str]:
    return dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), str(home)) | {
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
