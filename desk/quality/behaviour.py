"""How people took part: the numbers behind the quality flags, for many people by a handful of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, FloatField, Func, QuerySet

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import summary
from studies.models import Dataset, Participant, SessionEvent, StudyVersion, Task
from teaching.models import TeachingStep

from .flags import Flag, flags_of
from .measures import Behaviour, Claim, Pace, RoundTimes, gaps, hidden_times

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
    few = Participant.objects.using(people.db).filter(pk__in=unknown)
    asked = few if len(unknown) <= MOST_KEYS else people
    return {pk: flags_of(behaviour) for pk, behaviour in behaviours(asked).items()}


def _remember(flags: Mapping[str, Flags]) -> None:
    if len(_CACHED) + len(flags) > MOST_CACHED:
        _CACHED.clear()
    _CACHED.update(flags)


def behaviours(people: People) -> dict[int, Behaviour]:
    """By participant; who has done nothing yet is not in it."""
    sessions: defaultdict[int, SessionNumbers] = defaultdict(SessionNumbers)
    for model, fields, take in READ:
        for person, created, answered, *values in _answered(model, people, *fields):
            session = sessions[person]
            session.answer(created, answered)
            take(session, *values)
    for person, times in _hidden(people).items():
        sessions[person].hidden_s = times
    for person, keys in _keys(people).items():
        if person in sessions:
            sessions[person].keys = keys
    return {person: session.behaviour() for person, session in sessions.items()}


class SessionNumbers:
    """What one person's answers say, gathered answer by answer in the order of the session."""

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.handed_out = self.began = 0.0
        self.expected_s = 0.0
        self.hidden_s: list[float] = []
        self.times_ms: list[float] = []
        self.keys = 2
        self.answers: list[int] = []
        self.taught: list[bool] = []
        self.tested: list[bool] = []
        self.checks: list[bool] = []
        self.rounds: list[RoundTimes] = []
        self.claims: list[Claim] = []

    def answer(self, created: float, answered: float) -> None:
        """A task is handed out with the reply to the answer before it, or later, if it was written later."""
        self.began = self.began or created
        self.handed_out = max(created, self.moments[-1]) if self.moments else created
        self.moments.append(answered)

    def take_round(
        self,
        exposed: float,
        planned: float,
        shown: float | None,
        trial: int,
        length: int,
        response: float | None,
    ) -> None:
        took = self._since(exposed)
        self.rounds.append(RoundTimes(planned, took, shown, is_practice=not trial))
        self.expected_s += planned / 1000 + summary.recall_seconds(length)
        if shown is not None or response is not None:
            self.claims.append(Claim((shown or 0.0) + (response or 0.0), took))

    def take_step(self, response: float | None, is_right: bool) -> None:
        self._take_image(response)
        self.expected_s += summary.ANSWERING + summary.LOOKING
        self.taught.append(is_right)

    def take_item(
        self, response: float | None, is_right: bool | None, answer: int, instructed: int | None
    ) -> None:
        self._take_image(response)
        self.expected_s += summary.ANSWERING
        if instructed is not None:
            self.checks.append(answer == instructed)
            return
        self.answers.append(answer)
        self.tested.append(bool(is_right))

    def _take_image(self, response: float | None) -> None:
        if response is not None:
            self.times_ms.append(response)
            self.claims.append(Claim(response, self._since(self.handed_out)))

    def _since(self, moment: float) -> float:
        """Milliseconds until the answer."""
        return 1000 * (self.moments[-1] - moment)

    def behaviour(self) -> Behaviour:
        return Behaviour(
            times_ms=self.times_ms,
            keys=self.keys,
            answers=self.answers,
            taught=self.taught,
            tested=self.tested,
            gaps_s=gaps(self.moments),
            hidden_s=self.hidden_s,
            rounds=self.rounds,
            claims=self.claims,
            # The first round is written in the transaction of the consent.
            pace=Pace(self.moments[-1] - self.began, self.expected_s) if self.moments else None,
            checks=self.checks,
        )


ROUND = (Seconds("exposed_at"), "exposure_ms", "shown_ms", "trial", "length", "response_ms")
STEP = ("response_ms", "is_correct")
ITEM = ("response_ms", "is_correct", "answer", "instructed_label")
# The stages in the order of a session: which columns of their tasks are read, and what takes them.
READ: tuple[tuple[type[Task], tuple[Any, ...], Any], ...] = (
    (MemoryRound, ROUND, SessionNumbers.take_round),
    (TeachingStep, STEP, SessionNumbers.take_step),
    (EvaluationItem, ITEM, SessionNumbers.take_item),
)


def _answered(tasks: type[Task], people: People, *fields: Any) -> Iterable[Any]:
    """(participant, second of writing, second of the answer, …) of every answer, each person's in order."""
    rows = tasks._default_manager.using(people.db).filter(
        participant__in=people.values("pk"), answered_at__isnull=False
    )
    ordered = rows.order_by("participant_id", "position")
    times = Seconds("created_at"), Seconds("answered_at")
    return ordered.values_list("participant_id", *times, *fields).iterator()


def _keys(people: People) -> Mapping[int, int]:
    """How many classes everybody had to choose from, by the data set of the version that they joined with."""
    versions = dict(people.order_by().values_list("pk", "version"))
    used = StudyVersion.objects.using(people.db).filter(pk__in=set(versions.values()))
    datasets = {version.pk: version.configuration["dataset"]["key"] for version in used}
    own = Dataset.objects.using(people.db).filter(key__in=set(datasets.values())).order_by()
    classes = dict(own.values_list("key").annotate(Count("classes")))
    return {person: classes.get(datasets[version], 2) for person, version in versions.items()}


def _hidden(people: People) -> Mapping[int, list[float]]:
    seen = SessionEvent.objects.using(people.db).filter(
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
    rows = (
        Participant.objects.using(people.db)
        .filter(external_id__in=ids, consented_at__isnull=False, purpose__in=PLACES)
        .only("pk", "study_id", "purpose", "recruiter", "external_id")
    )
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
