"""Compares how fast two versions show a worker's first screens on a slow line.

    python -m tests.browser.compare_loading FOLDER

FOLDER is a checkout of the other version. Both serve their own code from data folders of their own, and one browser
with an empty cache visits them in turn. Prints the medians and their ratio.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from tests.site import ROOT, HttpClient, clean_environment, free_port

from .chromium import running_chromium

LATENCY_MS = 400
BYTES_PER_SECOND = 400_000 / 8
# Time to read the first page.
READING_MS = 3_000
VISITS = 5


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """The address of a study that a checkout serves."""
    with TemporaryDirectory(prefix="jedi-loading-") as folder:
        port = free_port()
        environment = clean_environment(Path(folder)) | {
            "PORT": str(port),
            "JEDI_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "JEDI_JOIN_RATE": "1000000/min",
        }
        run = {"cwd": root, "env": environment}
        said = subprocess.check_output([sys.executable, "manage.py", "prepare"], text=True, **run)  # type: ignore[call-overload]
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"],
            stderr=subprocess.DEVNULL,
            **run,  # type: ignore[call-overload]
        )
        try:
            wait_for(port)
            yield re.search(r"http://\S+/s/\S+", said)[0]  # type: ignore[index]
        finally:
            server.terminate()
            server.wait(60)


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            HttpClient(port).get("/healthz")
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("The server did not start.")


def entry(page: Page, study: str) -> float:
    return timed(lambda: page.goto(study), page, "#entry-begin")


def consent(page: Page, study: str) -> float:
    """From the entry, after some time to read it."""
    entry(page, study)
    page.wait_for_timeout(READING_MS)
    return timed(lambda: page.click("#entry-begin"), page, "[data-screen=consent]")


def link_of_a_session(page: Page, study: str) -> float:
    """A session's own link, with nothing in the cache."""
    path = "/api" + study[study.index("/s/") :].replace("/s/", "/studies/") + "sessions/"
    port = int(study.split(":")[2].split("/")[0])
    token = HttpClient(port).post(path, {}).json()["token"]
    return timed(
        lambda: page.goto(f"http://127.0.0.1:{port}/w/{token}/"), page, "[data-screen=consent]"
    )


def timed(act: Callable[[], object], page: Page, selector: str) -> float:
    began = time.perf_counter()
    act()
    page.wait_for_selector(selector)
    return time.perf_counter() - began


def one_visit(
    browser: Browser, visit: Callable[[Page, str], float], study: str
) -> tuple[float, float, float]:
    """Seconds, requests and kilobytes."""
    context = browser.new_context()
    page = context.new_page()
    network = context.new_cdp_session(page)
    seen: list[float] = []
    network.on("Network.loadingFinished", lambda event: seen.append(event["encodedDataLength"]))
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": LATENCY_MS,
            "downloadThroughput": BYTES_PER_SECOND,
            "uploadThroughput": BYTES_PER_SECOND,
        },
    )
    seconds = visit(page, study)
    context.close()
    return seconds, len(seen), sum(seen) / 1000


def main() -> None:
    other = Path(sys.argv[1]).resolve()
    with serving(ROOT) as here, serving(other) as there, running_chromium() as browser:
        for visit in (entry, consent, link_of_a_session):
            rows: dict[str, list[tuple[float, float, float]]] = {here: [], there: []}
            for _ in range(VISITS):
                for study, found in rows.items():
                    found.append(one_visit(browser, visit, study))
            new, old = (
                tuple(median(column) for column in zip(*found, strict=True))
                for found in rows.values()
            )
            print(  # noqa: T201
                f"{visit.__name__:18} here {new[0]:.2f} s, {new[1]:.0f} requests, {new[2]:.0f} kB; "
                f"there {old[0]:.2f} s, {old[1]:.0f} requests, {old[2]:.0f} kB; ratio {new[0] / old[0]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    main()
