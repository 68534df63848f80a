"""How fast a study is exported and how much memory that takes.

    python -m bench.exports                        200,000 teaching steps on SQLite
    python -m bench.exports --rows 1000000         another number of them
    python -m bench.exports --postgres             on Postgres

Every export runs in a process of its own, as the command does, so that its peak memory is its own; what the
process takes before it reads a row is reported separately.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from bench.databases import fresh_site

ROOT = Path(__file__).resolve().parent.parent
STEPS_EACH = 40
IMAGES = 200
BATCH = 5000

# Runs one export to nowhere; prints its seconds by the clock and of the processor, which other work does not
# lengthen, its size, and the peak memory before and after in MB.
MEASURE = """
import re, sys, time
from pathlib import Path
import django
django.setup()
from analysis.exports.archive import archive_chunks
from analysis.exports.files import Selection, table_chunks
from studies.models import Study

def peak():
    # The mark of this program; the one that getrusage tells is inherited from the process before it.
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

wanted = Selection(Study.objects.get(slug="bench"))
what = sys.argv[1]
chunks = archive_chunks(wanted) if what == "zip" else table_chunks(wanted, "teaching", what)
before, size = peak(), 0
started, worked = time.perf_counter(), time.process_time()
for chunk in chunks:
    size += len(chunk)
print(time.perf_counter() - started, time.process_time() - worked, size, before, peak())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="how many teaching steps")
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    options = parser.parse_args()
    with fresh_site(options.postgres):
        fill(options.rows)
        print(f"{'Postgres' if options.postgres else 'SQLite'}, {options.rows:,} teaching steps\n")
        print("export      rows/s  seconds  CPU seconds    file MB   start MB   peak MB")
        for what in ("csv", "jsonl", "zip"):
            report(what, options.rows)


def report(what: str, rows: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, what],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, cpu, size, before, peak = map(float, done.stdout.split())
    print(
        f"{what:<8} {rows / seconds:>9,.0f} {seconds:>8.1f} {cpu:>12.1f} "
        f"{size / 1e6:>10.1f} {before:>10.0f} {peak:>9.0f}",
        flush=True,
    )


def fill(rows: int) -> None:
    """A study with this many steps, of people who did nothing else."""
    started = time.perf_counter()
    write_in_batches(rows)
    print(f"filled in {time.perf_counter() - started:.0f} s", flush=True)


def write_in_batches(rows: int) -> None:
    from studies.models import Dataset, Example, ImageClass, Participant, Study, StudyVersion
    from teaching.models import TeachingStep

    dataset = Dataset.objects.create(name="Bench", learning_rate=0.1)
    ImageClass.objects.bulk_create(ImageClass.numbered(dataset, ("wild", "domestic")))
    images = Example.objects.bulk_create(
        Example(dataset=dataset, split="teaching", pool_index=k, label=k % 2) for k in range(IMAGES)
    )
    study = Study.objects.create(title="Bench", slug="bench", dataset=dataset, consent="Yes?")
    version = StudyVersion.freeze(study)
    people = Participant.objects.bulk_create(
        (
            Participant(study=study, version=version, stage="done", arm="jedi")
            for _ in range(-(-rows // STEPS_EACH))
        ),
        batch_size=BATCH,
    )
    steps = islice(steps_of(people, images, TeachingStep), rows)
    while batch := list(islice(steps, BATCH)):
        TeachingStep.objects.bulk_create(batch)


def steps_of(people: list[Any], images: list[Any], step: Any) -> Iterator[Any]:
    for person in people:
        for k in range(1, STEPS_EACH + 1):
            image, moment = images[k * 7 % IMAGES], person.created_at + timedelta(seconds=3 * k)
            yield step(
                participant=person, example=image, position=k + 10, step=k, is_random=k <= 5,
                is_first_showing=True, probabilities=[k / (k + 1), 1 / (k + 1)], p=1 / (k + 1),
                f=k / (k + 1), score=-k / 7, diversity=k / 3,
                usefulness=k / 9, learning_rate=0.03 * 20 / (20 + k), choice_ms=k * 1.7,
                response_ms=700.0 + k, created_at=moment, answered_at=moment, answer=image.label,
                is_correct=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
