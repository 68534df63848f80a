"""Firefox without a window."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from selenium.webdriver import Remote
from selenium.webdriver.common.options import ArgOptions
from selenium.webdriver.remote.file_detector import UselessFileDetector

from tests.site import free_port

from ..chromium import find_program
from .context import Preferences
from .marionette import Marionette

NAMES = ("firefox-esr", "firefox")
# Otherwise the buttons around the page keep the window wider than a phone.
SMALL_TOOLBAR = (
    ":root { min-width: 0 !important; } #navigator-toolbox { display: none !important; }"
)


def start_firefox(
    stack: ExitStack, home: Path, proxy_port: int, preferences: Preferences
) -> Remote:
    port = free_port()
    write_profile(home, settings_for(preferences, proxy_port) | {"marionette.port": port})
    stack.enter_context(running(home))
    return Remote(connected(port), options=ArgOptions(), file_detector=UselessFileDetector())


def settings_for(preferences: Preferences, proxy_port: int) -> dict[str, Any]:
    return {
        "toolkit.legacyUserProfileCustomizations.stylesheets": True,
        # Under a driver Firefox asks nobody but these for news.
        "services.settings.server": "data:,#nobody/v1",
        "media.gmp-manager.updateEnabled": False,
        "layout.css.prefers-color-scheme.content-override": 0 if preferences.is_dark else 1,
        "ui.prefersReducedMotion": int(preferences.reduces_motion),
        "network.proxy.type": 1,
        "network.proxy.http": "127.0.0.1",
        "network.proxy.http_port": proxy_port,
        "network.proxy.ssl": "127.0.0.1",
        "network.proxy.ssl_port": proxy_port,
        # Our own machine too: otherwise it is asked without the proxy.
        "network.proxy.allow_hijacking_localhost": True,
    }


def write_profile(home: Path, settings: dict[str, Any]) -> None:
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in settings.items()]
    (home / "user.js").write_text("".join(lines))
    (home / "chrome").mkdir()
    (home / "chrome" / "userChrome.css").write_text(SMALL_TOOLBAR)


@contextmanager
def running(profile: Path) -> Iterator[None]:
    program = find_program(NAMES, NAMES[0])
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", profile]
    # Otherwise the server of settings that our profile names is ignored.
    environment = os.environ | {"MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}
    firefox = subprocess.Popen(command, env=environment, stdout=DEVNULL, stderr=DEVNULL)
    try:
        yield
    finally:
        firefox.terminate()
        firefox.wait(60)


def connected(port: int) -> Marionette:
    for _ in range(600):
        try:
            return Marionette(port)
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise RuntimeError("Firefox did not start.")
