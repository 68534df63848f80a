"""Runs functions in the database that the environment names: arguments in by line, results out."""

import hashlib
import json
import sys
from dataclasses import astuple

import django


def order(path: str, *names: str) -> list[str]:
    """Gives orders to import; returns their keys."""
    from datasets.imports.services import enqueue

    from .imports import made_import

    jobs = [made_import(path, name=name) for name in names]
    for job in jobs:
        enqueue(job)
    return [job.key for job in jobs]


def looks(*names: str) -> list[str]:
    """Each data set in one word."""
    from studies.models import Dataset

    from .imports import made

    return [in_one_word(made(Dataset.objects.get(name=name))) for name in names]


def in_one_word(looked_at) -> str:
    fields, examples, pool, fitted, insight = astuple(looked_at)
    told = repr((fields, examples, sorted(pool.items()), sorted(fitted.items())))
    return hashlib.sha256((told + json.dumps(insight, sort_keys=True)).encode()).hexdigest()


if __name__ == "__main__":
    django.setup()
    errands = {"order": order, "looks": looks}
    for line in sys.stdin:
        errand, *arguments = json.loads(line)
        print(json.dumps(errands[errand](*arguments)), flush=True)  # noqa: T201
