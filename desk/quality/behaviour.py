"""How people took part: the numbers behind the quality flags, for many people by a handful of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import FloatField, Func, QuerySet

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Participant, SessionEvent, Task
from teaching.models import TeachingStep

from .flags import Behaviour, Flag, flags_of, gaps, hidden_times

People = QuerySet[Participant]
Lists = defaultdict[int, list[Any]]
Flags = tuple[Flag, ...]
Kind = SessionEvent.Kind
Purpose = Participant.Purpose

# Up to this many people are looked up by their keys; of more, everybody is read.
MOST_KEYS = 500
# Of sessions that have ended, by the participant's code: their answers cannot change.
_CACHED: dict[str, Flags] = {}
MOST_CACHED = 50_000

# Sessions for other purposes say nothing about who took part in them.
PLACES = {
    Purpose.LIVE: "the study itself",
    Purpose.PILOT: "its pilot",
    Purpose.PREVIEW: "a preview of it",
}


class Seconds(Func):
    """A moment as a number, worked out by the database: a million moments are slow to read as objects."""

    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "((julianday(%(expressions)s) - 2440587.5) * 86400.0)"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(EXTRACT(EPOCH FROM %(expressions)s)::double precision)"
        return self.as_sql(compiler, connection, template=template, **context)


def flags_by_person(people: People, rows: Sequence[Participant]) -> dict[int, Flags]:
    """The flags of everybody who has some. `rows` are the same people, as they were read."""
    ended = {row.pk: row.code for row in rows if not row.is_under_way}
    known = {pk: _CACHED[code] for pk, code in ended.items() if code in _CACHED}
    flags = known | _read_flags(people, [row.pk for row in rows if row.pk not in known])
    _remember({code: flags.get(pk, ()) for pk, code in ended.items()})
    places = elsewhere(people)
    for pk in [row.pk for row in rows if row.pk in places]:
        flags[pk] = (*flags.get(pk, ()), *flags_of(Behaviour(elsewhere=places[pk])))
    return {pk: found for pk, found in flags.items() if found}


def _read_flags(people: People, unknown: Sequence[int]) -> dict[int, Flags]:
    if not unknown:
        return {}
    asked = Participant.objects.filter(pk__in=unknown) if len(unknown) <= MOST_KEYS else people
    return {pk: flags_of(behaviour) for pk, behaviour in behaviours(asked).items()}


def _remember(flags: Mapping[str, Flags]) -> None:
    if len(_CACHED) + len(flags) > MOST_CACHED:
        _CACHED.clear()
    _CACHED.update(flags)


def behaviours(people: People) -> dict[int, Behaviour]:
    """By participant; who has done nothing yet is not in it."""
    moments, times, answers, checks, exposures = (Lists(list) for _ in range(5))
    memory_fields = ("shown_ms", "exposure_ms", "trial")
    for person, at, shown, planned, trial in _answered(MemoryRound, people, *memory_fields):
        moments[person].append(at)
        if trial and shown is not None:
            exposures[person].append((shown, planned))
    for person, at, time in _answered(TeachingStep, people, "response_ms"):
        moments[person].append(at)
        times[person].append(time)
    test_fields = ("response_ms", "answer", "instructed_label")
    for person, at, time, answer, instructed in _answered(EvaluationItem, people, *test_fields):
        moments[person].append(at)
        times[person].append(time)
        if instructed is None:
            answers[person].append(answer)
        else:
            checks[person].append(answer == instructed)
    hidden = _hidden(people)
    return {
        person: Behaviour(
            times_ms=[time for time in times[person] if time is not None],
            answers=answers[person],
            gaps_s=gaps(moments[person]),
            hidden_s=hidden.get(person, ()),
            exposures=exposures[person],
            checks=checks[person],
        )
        for person in moments.keys() | hidden.keys()
    }


def _answered(tasks: type[Task], people: People, *fields: str) -> Iterable[Any]:
    """(participant, second, …) of every answer, each person's in order."""
    rows = tasks._default_manager.filter(
        participant__in=people.values("pk"), answered_at__isnull=False
    )
    ordered = rows.order_by("participant_id", "position")
    return ordered.values_list("participant_id", Seconds("answered_at"), *fields).iterator()


def _hidden(people: People) -> Mapping[int, list[float]]:
    seen = SessionEvent.objects.filter(
        participant__in=people.values("pk"), kind__in=(Kind.HIDDEN, Kind.SHOWN, Kind.OPENED)
    )
    events = Lists(list)
    for person, kind, at in seen.order_by("at", "pk").values_list(
        "participant_id", "kind", Seconds("at")
    ):
        events[person].append((kind == Kind.HIDDEN, at))
    times = {person: hidden_times(rows) for person, rows in events.items()}
    return {person: rows for person, rows in times.items() if rows}


def elsewhere(people: People) -> dict[int, list[str]]:
    """Where else the recruiters' ids of these people took part, by participant, including those other sessions."""
    ids = people.exclude(external_id="").order_by().values("external_id")
    rows = Participant.objects.filter(
        external_id__in=ids, consented_at__isnull=False, purpose__in=PLACES
    ).only("pk", "study_id", "purpose", "recruiter", "external_id")
    sessions = defaultdict(list)
    for row in rows.order_by("pk"):
        sessions[row.recruiter, row.external_id].append(row)
    return {
        row.pk: _places(row, [other for other in alike if other.pk != row.pk])
        for alike in sessions.values()
        if len(alike) > 1
        for row in alike
    }


def _places(person: Participant, others: Sequence[Participant]) -> list[str]:
    """Other studies are counted and not named: they may belong to other researchers."""
    here = {other.purpose for other in others if other.study_id == person.study_id}
    studies = {other.study_id for other in others if other.study_id != person.study_id}
    places = [words for purpose, words in PLACES.items() if purpose in here]
    if studies:
        places.append("1 other study" if len(studies) == 1 else f"{len(studies)} other studies")
    return places
