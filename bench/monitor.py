"""How long the live pages of a study take: `python -m bench.monitor [--postgres]`.

The monitor with 10,000 participants and what it fetches every ten seconds, and the results with 2,000 who finished.
Each is opened as a signed-in researcher does, in this process: seconds by the clock and of the processor, and how many
questions the database was asked. The first opening of the results counts answers and draws samples; later ones find
them in memory. Code is loaded ahead, as a server does when it has started.
"""

import argparse
import time
from typing import Any

from bench.databases import fresh_site


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=10_000, help="of the monitor")
    parser.add_argument("--finished", type=int, default=2000, help="of the results")
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    options = parser.parse_args()
    with fresh_site(options.postgres, JEDI_DEBUG="1"):
        from jedi_web import preload

        preload.load()
        print("page                          seconds  CPU seconds  queries  kB")
        watch(options.people)
        look_at_results(options.finished)


def watch(people: int) -> None:
    from tests.builders import make_dataset, make_study
    from tests.crowd import make_crowd

    dataset = make_dataset(teaching=60, evaluation=40)
    study = make_study(dataset=dataset, max_participants=2 * people, target_per_arm=people // 4)
    make_crowd(study, people)
    page = f"/admin/studies/study/{study.pk}/monitor/"
    report(f"monitor, {people:,}", page, times=3)
    report("  every ten seconds", f"{page}news/", times=3)
    report("  everybody, last page", f"{page}?place=everybody&page={people // 50}", times=3)


def look_at_results(people: int) -> None:
    from tests.builders import make_dataset, make_study
    from tests.crowd import make_finished

    dataset = make_dataset(teaching=120, evaluation=100)
    study = make_study(dataset=dataset, short=False)
    for start in range(0, people, 500):
        make_finished(study, min(500, people - start), seed=start)
    page = f"/admin/studies/study/{study.pk}/results/"
    report(f"results, {people:,}, first", page)
    report("  again", page, times=3)


def report(title: str, address: str, times: int = 1) -> None:
    """The median of some openings."""
    client = signed_in()
    rows = sorted(open_once(client, address) for _ in range(times))
    seconds, cpu, queries, size = rows[len(rows) // 2]
    print(
        f"{title:<28} {seconds:>8.2f} {cpu:>12.2f} {queries:>8} {size / 1000:>5.0f}",
        flush=True,
    )


def open_once(client: Any, address: str) -> tuple[float, float, int, int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    started, worked = time.perf_counter(), time.process_time()
    with CaptureQueriesContext(connection) as asked:
        reply = client.get(address)
    if reply.status_code != 200:
        raise RuntimeError(f"{address} answered {reply.status_code}")
    took = time.perf_counter() - started, time.process_time() - worked
    return *took, len(asked), len(reply.content)


def signed_in() -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    user, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


if __name__ == "__main__":
    main()
