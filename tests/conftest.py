"""What tests share: a Postgres of our own, deployed sites on both databases, and clean ground."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from tests.postgres import Postgres, running_postgres
from tests.site import Site, running_site


def pytest_unconfigure() -> None:
    shutil.rmtree(settings.JEDI_DATA_DIR, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_throttle_from_the_test_before() -> None:
    cache.clear()


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


@pytest.fixture
def researcher(admin_user: Any) -> Client:
    """A signed-in superuser."""
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client
