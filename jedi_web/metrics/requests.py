"""Counters and times of requests, answers and teachers. No label names a person, a study or a key."""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from studies.request_notes import Notes

from . import processes

if processes.FOLDER in os.environ:
    values.ValueClass = values.MultiProcessValue(processes.number)  # type: ignore[no-untyped-call]

# Whoever makes up methods makes up no labels.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_registry = CollectorRegistry()
REQUESTS = Histogram(
    "jedi_request_seconds",
    "Seconds until the reply to a request was ready.",
    ["route", "method", "status"],
    buckets=SECONDS,
    registry=_registry,
)
ANSWERS = Counter(
    "jedi_answers", "Answers that were taken, each once.", ["stage"], registry=_registry
)
CHOICES = Histogram(
    "jedi_teacher_choice_seconds",
    "Seconds that a teacher took to choose an image.",
    ["teacher"],
    buckets=SECONDS,
    registry=_registry,
)


def count(route: str, method: str, status: int, elapsed_ms: float, notes: Notes) -> None:
    known = method if method in METHODS else "other"
    REQUESTS.labels(route, known, status).observe(elapsed_ms / 1000)
    if notes.answered:
        ANSWERS.labels(notes.answered).inc()
    if notes.teacher:
        CHOICES.labels(notes.teacher).observe(notes.teacher_ms / 1000)


def totals() -> Collector:
    """Of all processes of this server; without their folder, as in a development server, of this one."""
    if processes.FOLDER not in os.environ:
        return _registry
    return MultiProcessCollector(None)  # type: ignore[no-untyped-call]
