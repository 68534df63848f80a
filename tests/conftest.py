"""What tests share: a Postgres of our own, deployed sites on both databases, and clean ground."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client

from tests.own_database import filled
from tests.postgres import Postgres, running_postgres
from tests.site import SHARED, Site, prepared_folder, remove_prepared_folder, running_site

# Whoever asks for one of these waits for programs to start.
DEPLOYED = {"site", "sqlite_site", "postgres_site", "postgres", "workplace", "site_with_worker"}

MakeOnce = Callable[[Callable[[], Any]], Any]


def pytest_unconfigure() -> None:
    shutil.rmtree(settings.JEDI_DATA_DIR, ignore_errors=True)
    remove_prepared_folder()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """With `--dist loadgroup`, the tests of a group run in one process and share what is made for them.

    The marks are set before xdist, which reads them in the same hook, has its turn.
    """
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    yield
    # The longest groups begin first, so that nobody waits for one of them in the end.
    items.sort(key=lambda item: not fixtures_of(item) & DEPLOYED)


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end: the garbage collector need not go through them over and over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def group_of(item: pytest.Item) -> str:
    names = fixtures_of(item)
    if names & DEPLOYED:
        return f"deployed on {database_of(item)}"
    # These empty the database, also of what migrations put there: they follow all that need it.
    if names & {"transactional_db", "live_server"} or commits(item):
        return "committing"
    return item.nodeid.split("::")[0]


def fixtures_of(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


def database_of(item: pytest.Item) -> str:
    """Of tests that need a deployed site: the two sites are made in two processes, at the same time."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    is_postgres = "postgres" in parameters or fixtures_of(item) & {"postgres", "postgres_site"}
    return "Postgres" if is_postgres else "SQLite"


def commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    return marker is not None and bool(marker.kwargs.get("transaction"))


@pytest.fixture(autouse=True)
def no_throttle_from_the_test_before() -> None:
    cache.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
) -> Iterator[None]:
    """Where processes share a prepared site, the migrations have run: each of them begins with a copy of its tables."""
    if SHARED in os.environ and connection.vendor == "sqlite":
        with filled(connection.creation._get_test_db_name(), prepared_folder() / "db.sqlite3"):
            yield
    else:
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real Postgres; under xdist every process has its own."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def sqlite_site() -> Iterator[Site]:
    with running_site() as site:
        yield site


@pytest.fixture(scope="session")
def postgres_site(postgres: Postgres) -> Iterator[Site]:
    with running_site(postgres.create_database("site")) as site:
        yield site


@pytest.fixture(params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest) -> Site:
    """A deployed site, once on each database: two processes of sixteen threads."""
    return request.getfixturevalue(f"{request.param}_site")


@pytest.fixture(scope="module")
def make_once(django_db_setup: None, django_db_blocker: Any) -> Iterator[MakeOnce]:
    """Calls what makes rows for all tests of a file; every test undoes its own changes to them."""
    with ExitStack() as made:

        def make(maker: Callable[[], Any]) -> Any:
            with django_db_blocker.unblock():
                return maker()

        make(lambda: made.enter_context(transaction.atomic()))
        yield make
        with django_db_blocker.unblock():
            transaction.set_rollback(True)
            made.close()


@pytest.fixture
def researcher(admin_user: Any) -> Client:
    """A signed-in superuser."""
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client
