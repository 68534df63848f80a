"""Firefox without a window, by the socket that it opens for its own drivers."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from tests.site import free_port

from ..chromium import find_program
from .context import Browser, Context, Wishes
from .wire import MarionetteWire

NAMES = ("firefox-esr", "firefox")
# Otherwise the buttons around the page keep the window wider than a phone.
SMALL_TOOLBAR = (
    ":root { min-width: 0 !important; } #navigator-toolbox { display: none !important; }"
)
# Nobody is asked or told anything.
QUIET = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.region.update.enabled": False,
    "browser.search.update": False,
    "browser.topsites.contile.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#nobody/v1",
    "toolkit.legacyUserProfileCustomizations.stylesheets": True,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class FirefoxContext(Context):
    def start(self, stack: ExitStack, wishes: Wishes) -> MarionetteWire:
        port = free_port()
        self._write_settings(self._settings(wishes) | {"marionette.port": port})
        stack.enter_context(running(self.home))
        return connected(port)

    def _settings(self, wishes: Wishes) -> dict[str, Any]:
        return QUIET | {
            "layout.css.prefers-color-scheme.content-override": 0 if wishes.is_dark else 1,
            "ui.prefersReducedMotion": int(wishes.wants_less_motion),
            "network.proxy.type": 1,
            "network.proxy.http": "127.0.0.1",
            "network.proxy.http_port": self.proxy.port,
            "network.proxy.ssl": "127.0.0.1",
            "network.proxy.ssl_port": self.proxy.port,
            # Our own machine too: otherwise it is asked without the proxy.
            "network.proxy.allow_hijacking_localhost": True,
        }

    def _write_settings(self, settings: dict[str, Any]) -> None:
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in settings.items()]
        (self.home / "user.js").write_text("".join(lines))
        (self.home / "chrome").mkdir()
        (self.home / "chrome" / "userChrome.css").write_text(SMALL_TOOLBAR)


@contextmanager
def running(profile: Path) -> Iterator[None]:
    program = find_program(NAMES, NAMES[0])
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", profile]
    environment = os.environ | {"MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}
    firefox = subprocess.Popen(command, env=environment, stdout=DEVNULL, stderr=DEVNULL)
    try:
        yield
    finally:
        firefox.terminate()
        firefox.wait(60)


def connected(port: int) -> MarionetteWire:
    for _ in range(600):
        try:
            return MarionetteWire(port)
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise RuntimeError("Firefox did not start.")


@contextmanager
def running_firefox() -> Iterator[Any]:
    with closing(Browser(FirefoxContext)) as browser:
        yield browser
