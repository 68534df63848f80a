"""Runs functions in the database that the environment names: arguments in by line, results out."""

import hashlib
import json
import sys
from dataclasses import astuple

import django


def order(path: str, *names: str) -> list[str]:
    """Gives orders to import; returns their keys."""
    from tests.image_datasets.made_imports import made_import

    jobs = [made_import(path, name=name) for name in names]
    for job in jobs:
        job.enqueue()
    return [job.key for job in jobs]


def rehearse(slug: str, fields: dict, is_queued: bool = True) -> int:
    """Orders a rehearsal; one that is not queued has lost its order. Returns its primary key."""
    from rehearsal.models import Rehearsal
    from studies.models import Study

    job = Rehearsal.objects.create(study=Study.objects.get(slug=slug), **fields)
    if is_queued:
        job.enqueue()
    return job.pk


def looks(*names: str) -> list[str]:
    """Each data set in one word."""
    from studies.models import Dataset
    from tests.image_datasets.made_imports import made

    return [in_one_word(made(Dataset.objects.get(name=name))) for name in names]


def in_one_word(looked_at) -> str:
    fields, examples, pool, fitted, insight = astuple(looked_at)
    told = repr((fields, examples, sorted(pool.items()), sorted(fitted.items())))
    return hashlib.sha256((told + json.dumps(insight, sort_keys=True)).encode()).hexdigest()


if __name__ == "__main__":
    django.setup()
    from django.db import connection

    errands = {"order": order, "rehearse": rehearse, "looks": looks}
    for line in sys.stdin:
        errand, *arguments = json.loads(line)
        print(json.dumps(errands[errand](*arguments)), flush=True)  # noqa: T201
        # Until the next errand the database may be killed.
        connection.close()
