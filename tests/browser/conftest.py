"""A deployed site, a browser, and visitors whose every fault fails the test.

These tests run in a process of their own: Playwright leaves an event loop behind, and Django refuses to use a database
beside one. So they touch no model here; studies are made, and rows read, outside Django.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.second_try import pytest_terminal_summary  # noqa: F401 - a hook
from tests.site import Site, running_site
from tests.worker import Worker

from .chromium import running_chromium
from .researcher import MAKE_A_RESEARCHER
from .visitor import Visitor
from .webdriver.context import running
from .webdriver.firefox import start_firefox
from .webdriver.webkit import start_webkit

ENGINES = {
    "chromium": running_chromium,
    "firefox": lambda: running(start_firefox),
    "webkit": lambda: running(start_webkit),
}

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
# A round of two pictures takes two seconds, and feedback goes at once.
QUICK = {"memory_extra_seconds": 0, "memory_max_length": 2, "min_look_ms": 0}
# Shows studies in a frame.
TURK = "https://workersandbox.mturk.com"
# Long enough to look at the display itself, on any machine; a reload leaves it.
LONG_DISPLAY = {"memory_extra_seconds": 60}

Visit = Callable[..., Visitor]
MakeStudy = Callable[..., str]
Join = Callable[..., Worker]
AtQuestion = Callable[..., Visitor]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=ENGINES, default="chromium", help="who shows the pages")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "chromium: asks for what WebDriver cannot do")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if engine_of(config) != "chromium":
        items[:] = [item for item in items if not item.get_closest_marker("chromium")]


def engine_of(config: pytest.Config) -> str:
    """The option exists when these tests are named on the command line."""
    return str(config.getoption("engine", "chromium"))


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with running_site(processes=2, threads=4, JEDI_FRAME_ANCESTORS=TURK) as site:
        yield site


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> Iterator[Browser]:
    with ENGINES[engine_of(pytestconfig)]() as browser:
        yield browser


@pytest.fixture(scope="session")
def researcher_account(site: Site) -> None:
    site.python("-c", MAKE_A_RESEARCHER)


@pytest.fixture(scope="session")
def study(site: Site) -> MakeStudy:
    """The link name of a quick study with these settings; made once, then shared."""
    made: dict[str, str] = {}

    def make(**fields: Any) -> str:
        settings = json.dumps(fields, sort_keys=True)
        if settings not in made:
            made[settings] = site.make_study(**(QUICK | fields))
        return made[settings]

    return make


@pytest.fixture
def join(site: Site, study: MakeStudy) -> Join:
    """Somebody who has come as far as a stage without a browser."""

    def go_to(stage: str, slug: str = "", answers: int = 0, **parameters: str) -> Worker:
        worker = Worker(slug or study(), site.client(), **parameters)
        worker.go_to(stage)
        for _ in range(answers):
            worker.answer_current()
        return worker

    return go_to


@pytest.fixture
def visit(site: Site, browser: Browser) -> Iterator[Visit]:
    """Opens browsers that know nothing of each other."""
    visitors: list[Visitor] = []

    def open_browser(path: str = "", port: int = site.port, **options: Any) -> Visitor:
        context = browser.new_context(**(DESKTOP | options))
        visitor = Visitor(context, f"http://127.0.0.1:{port}")
        visitors.append(visitor)
        if path:
            visitor.open(path)
        return visitor

    yield open_browser
    for visitor in visitors:
        visitor.collect_reports()
    faults = [fault for visitor in visitors for fault in visitor.faults]
    for visitor in visitors:
        visitor.context.close()
    assert not faults, "\n".join(faults)


@pytest.fixture
def at_question(visit: Visit, join: Join) -> AtQuestion:
    """Opens a browser at the first picture to classify in a stage."""

    def open_browser(stage: str = "teaching", slug: str = "", **options: Any) -> Visitor:
        visitor = visit(f"/w/{join(stage, slug).token}/", **options)
        visitor.begin()
        visitor.look_at_the_picture()
        return visitor

    return open_browser
