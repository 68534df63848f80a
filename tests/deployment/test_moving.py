"""A site on SQLite moves to Postgres while its workers wait for the next reply."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from threading import Event

import pytest
from django.core.management import CommandError, call_command

from jobs.worker import no_running_worker, running_worker
from tests.jobs.real import start_worker
from tests.kills import assert_nothing_is_lost, take_part
from tests.processes import until
from tests.site import Site, clean_environment, running_site

from .test_failing_starts import NOWHERE, manage

JOURNEYS = 8


def test_without_a_postgres_to_move_to_the_command_says_what_to_set():
    with pytest.raises(CommandError, match="Set DATABASE_URL to the Postgres database"):
        call_command("migrate_to_postgres", stdout=StringIO())


def test_rows_are_not_moved_beside_a_worker_until_it_is_gone_however_it_went(tmp_path):
    site = Site(0, tmp_path, "", clean_environment(tmp_path))
    site.prepare()
    worker = start_worker(site)
    try:
        until((tmp_path / "worker-heartbeat").exists)
        refused = manage(tmp_path, "migrate_to_postgres", NOWHERE)
        assert refused.stderr.startswith(
            "CommandError: A background worker is running on the SQLite"
        )
        assert "Stop it (manage.py work), run this again" in refused.stderr
    finally:
        worker.kill()
        worker.wait()
    assert "cannot be reached" in manage(tmp_path, "migrate_to_postgres", NOWHERE).stderr


def test_several_workers_may_work_but_none_begins_while_rows_are_moved(settings, tmp_path):
    settings.JEDI_DATA_DIR = tmp_path
    with running_worker(tmp_path), running_worker(tmp_path):
        pass
    with (
        no_running_worker(tmp_path),
        pytest.raises(CommandError, match="Start the worker with that DATABASE_URL"),
    ):
        call_command("work", once=True)
    assert not (tmp_path / "worker-heartbeat").exists()


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
                assert "every table is the same" in moved.python("manage.py", "migrate_to_postgres")
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
