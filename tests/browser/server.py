"""A second server on a site's data, for tests that kill it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.site import ROOT, HttpClient, Site, free_port


class KillableServer:
    """The product's gunicorn, with all of its processes in one group."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.port = free_port()
        self.environment = site.environment | {
            "PORT": str(self.port),
            "JEDI_DATA_DIR": str(folder),
        }
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"],
            cwd=ROOT,
            env=self.environment,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait_until_ready(self) -> None:
        for _ in range(600):
            try:
                if HttpClient(self.port).get("/healthz").status_code == 200:
                    return
            except (OSError, HTTPException):
                time.sleep(0.1)
        raise RuntimeError("The server did not start.")

    def kill(self) -> None:
        """As a power cut does: no process gets to say good-bye."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)


@contextmanager
def killable_server(site: Site) -> Iterator[KillableServer]:
    """In a folder of links to the site's own: a second server in the same folder would be refused."""
    with TemporaryDirectory(prefix="jedi-linked-") as folder:
        for path in site.data_dir.iterdir():
            (Path(folder) / path.name).symlink_to(path)
        (Path(folder) / "server.lock").unlink()
        server = KillableServer(site, Path(folder))
        try:
            server.wait_until_ready()
            yield server
        finally:
            server.kill()
