"""Whatever is killed at any moment: no acknowledged answer is lost, none is doubled, and everybody finishes."""

import random
from contextlib import ExitStack, closing

import pytest

from tests.kills import Killer, assert_nothing_is_lost, sessions_under_kills
from tests.postgres import SAFE, running_postgres
from tests.site import running_site

# At least twenty on each database, in an order that is drawn.
KILLS = {
    "sqlite": {"web": 12, "server": 4, "worker": 4},
    "postgres": {"web": 8, "server": 3, "worker": 4, "postgres": 6},
}


@pytest.mark.faults
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_killed_processes_lose_and_double_no_answer(database):
    kills = [what for what, times in KILLS[database].items() for _ in range(times)]
    random.Random(database).shuffle(kills)
    with ExitStack() as running:
        postgres = running.enter_context(running_postgres(SAFE)) if database == "postgres" else None
        url = postgres.create_database("killed") if postgres else ""
        site = running.enter_context(running_site(url))
        slug = site.make_study(evaluation_size=20)
        killer = running.enter_context(closing(Killer(site, slug, postgres, database)))
        taken = sessions_under_kills(site, slug, killer, journeys=24, kills=kills)
        assert len(taken[0]) >= 24
        assert_nothing_is_lost(site, slug, *taken)
        killer.finish_jobs()
        assert killer.job_states() == [("done",)] * KILLS[database]["worker"]


def test_a_process_and_a_server_that_are_killed_lose_and_double_no_answer():
    """The short form of the above."""
    with running_site() as site, ExitStack() as running:
        slug = site.make_study()
        killer = running.enter_context(closing(Killer(site, slug, None, "short")))
        taken = sessions_under_kills(site, slug, killer, journeys=4, kills=["web", "server", "web"])
        assert_nothing_is_lost(site, slug, *taken)
