"""A site on SQLite moves to Postgres while its workers wait for the next reply."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from threading import Event

import pytest
from django.core.management import CommandError, call_command

from tests.kills import assert_nothing_is_lost, take_part
from tests.site import running_site

JOURNEYS = 8


def test_without_a_postgres_to_move_to_the_command_says_what_to_set():
    with pytest.raises(CommandError, match="Set DATABASE_URL to the Postgres database"):
        call_command("migrate_to_postgres", stdout=StringIO())


@pytest.mark.faults
@pytest.mark.timeout(1200)
def test_sessions_under_way_go_on_in_postgres_with_the_same_links(postgres):
    url = postgres.create_database("moved")
    with running_site() as site:
        slug, over = site.make_study(evaluation_size=20), Event()
        moved = replace(
            site, database_url=url, environment=site.environment | {"DATABASE_URL": url}
        )
        with ThreadPoolExecutor(JOURNEYS) as threads:
            journeys = [
                threads.submit(take_part, site, slug, number, over) for number in range(JOURNEYS)
            ]
            try:
                # Before the server is stopped, so that nobody waits for it.
                moved.python("manage.py", "migrate")
                with pytest.raises(RuntimeError, match="A server is running on the SQLite file"):
                    moved.python("manage.py", "migrate_to_postgres")
                os.kill(site.server_pid, signal.SIGTERM)
                os.waitpid(site.server_pid, 0)
                under_way = [s for (s,) in site.participants(slug, "stage") if s != "done"]
                assert "every table says the same" in moved.python(
                    "manage.py", "migrate_to_postgres"
                )
                with (site.data_dir / "moved.log").open("w") as log:
                    server = moved.start_server(log)
            finally:
                over.set()
        try:
            finished = [journey.result() for journey in journeys]
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait(60)

        assert len(under_way) >= JOURNEYS // 2
        workers = [worker for taken, _ in finished for worker in taken]
        acknowledged = {place: label for _, given in finished for place, label in given.items()}
        assert_nothing_is_lost(moved, slug, workers, acknowledged)
        with pytest.raises(RuntimeError, match=r"is in use: .* have rows\. Name an empty one"):
            moved.python("manage.py", "migrate_to_postgres")
