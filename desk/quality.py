"""The quality page of a study: flags for unusual sessions, and decisions to exclude participants."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from analysis.charts.tables import Column, Table, row_names
from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import audit, chain, summary
from studies.models import (
    AuditEntry,
    Dataset,
    Participant,
    SessionEvent,
    Study,
    StudyVersion,
    Task,
)
from teaching.models import TeachingStep
from teaching.teachers import teacher_title

from .filters import filter_links, query_string
from .models import Decision
from .page import Page, address, format_minute, participant_link, study_page
from .quality_flags import (
    RULES,
    Behaviour,
    Flag,
    Pace,
    ReportedTime,
    RoundTimes,
    flags_of,
    gaps,
    hidden_times,
)

People = QuerySet[Participant]
Flags = tuple[Flag, ...]
Purpose = Participant.Purpose

PAGE_SIZE = 50
MAX_DECISIONS = 50
MAX_REASON = 400
EXCLUDED = "excluded"
DECISION_COLUMNS = (
    Column("When", cell_class="moment"),
    row_names("Participant"),
    Column("Decision"),
    Column("Reason", cell_class="reason"),
    Column("By"),
)
PERSON_FIELDS = (
    "study", "code", "stage", "arm", "is_excluded", "evaluation_accuracy", "created_at", "last_seen_at", "purpose",
)  # fmt: skip

# Up to this many participants are selected by primary key; for more, everybody is read.
MAX_KEYS = 500
# The flags of ended sessions by participant code. Their answers cannot change.
_flags_cache: dict[str, Flags] = {}
MAX_CACHED = 50_000

# Where else a participant may have taken part. Rehearsals have no external ids.
OTHER_SESSIONS = {
    Purpose.LIVE: "the study itself",
    Purpose.PILOT: "its pilot",
    Purpose.PREVIEW: "a preview of it",
}


# Behaviour, read from the stored tasks and events


def flags_by_person(people: People, rows: Sequence[Participant]) -> dict[int, Flags]:
    """The flags of all flagged participants. `rows` are the participants of `people`, already read."""
    ended = {row.pk: row.code for row in rows if not row.is_under_way}
    flags = {pk: _flags_cache[code] for pk, code in ended.items() if code in _flags_cache}
    if unknown := [row.pk for row in rows if row.pk not in flags]:
        few = Participant.objects.using(people.db).filter(pk__in=unknown)
        asked = few if len(unknown) <= MAX_KEYS else people
        flags |= {pk: flags_of(behaviour) for pk, behaviour in behaviours(asked).items()}
    if len(_flags_cache) + len(ended) > MAX_CACHED:
        _flags_cache.clear()
    _flags_cache.update({code: flags.get(pk, ()) for pk, code in ended.items()})
    # Sessions elsewhere are not cached, because they can be added at any time.
    places = other_sessions(people)
    for row in rows:
        if row.pk in places:
            elsewhere = flags_of(Behaviour(elsewhere=places[row.pk]))
            flags[row.pk] = (*flags.get(row.pk, ()), *elsewhere)
    return {pk: found for pk, found in flags.items() if found}


def behaviours(people: People) -> dict[int, Behaviour]:
    """By participant; those without an answer are left out."""
    sessions: dict[int, SessionReader] = {}
    for model, fields, read in TASKS:
        tasks = model._default_manager.using(people.db).filter(
            participant__in=people.values("pk"), answered_at__isnull=False
        )
        rows = tasks.order_by("participant_id", "position").values_list(
            "participant_id", "created_at", "answered_at", *fields
        )
        for person, created, answered, *values in rows.iterator():
            session = sessions.setdefault(person, SessionReader(created))
            session.answer(created, answered)
            read(session, *values)
    hidden, keys = hidden_by_person(people), class_counts(people)
    return {
        person: session.behaviour(hidden.get(person, []), keys[person])
        for person, session in sessions.items()
    }


class SessionReader:
    """Collects the behaviour of one participant, answer by answer in the order of the session."""

    def __init__(self, began: datetime) -> None:
        # The first task is created in the transaction that stores the consent.
        self.began = began
        # When the current task was sent.
        self.sent = began
        self.answered: list[datetime] = []
        self.expected_s = 0.0
        self.times_ms: list[float] = []
        self.answers: list[int] = []
        self.taught: list[bool] = []
        self.tested: list[bool] = []
        self.checks: list[bool] = []
        self.rounds: list[RoundTimes] = []
        self.reported: list[ReportedTime] = []

    def answer(self, created: datetime, answered: datetime) -> None:
        """A task is sent with the reply to the previous answer, or later if it was created later."""
        self.sent = max(created, self.answered[-1]) if self.answered else created
        self.answered.append(answered)

    def memory_round(
        self,
        exposed: datetime,
        planned: float,
        shown: float | None,
        trial: int,
        length: int,
        response: float | None,
    ) -> None:
        took = self._milliseconds_since(exposed)
        self.rounds.append(RoundTimes(planned, took, shown, is_practice=not trial))
        self.expected_s += planned / 1000 + summary.recall_seconds(length)
        if shown is not None or response is not None:
            self.reported.append(ReportedTime((shown or 0.0) + (response or 0.0), took))

    def teaching_step(self, response: float | None, is_correct: bool) -> None:
        self._image(response)
        self.expected_s += summary.ANSWERING + summary.LOOKING
        self.taught.append(is_correct)

    def evaluation_item(
        self, response: float | None, is_correct: bool | None, answer: int, instructed: int | None
    ) -> None:
        self._image(response)
        self.expected_s += summary.ANSWERING
        if instructed is not None:
            self.checks.append(answer == instructed)
            return
        self.answers.append(answer)
        self.tested.append(bool(is_correct))

    def _image(self, response: float | None) -> None:
        if response is not None:
            self.times_ms.append(response)
            waited = self._milliseconds_since(self.sent)
            self.reported.append(ReportedTime(response, waited))

    def _milliseconds_since(self, moment: datetime) -> float:
        """Until the answer."""
        return 1000 * (self.answered[-1] - moment).total_seconds()

    def behaviour(self, hidden_s: Sequence[float], keys: int) -> Behaviour:
        taken_s = (self.answered[-1] - self.began).total_seconds()
        return Behaviour(
            times_ms=self.times_ms,
            keys=keys,
            answers=self.answers,
            taught=self.taught,
            tested=self.tested,
            gaps_s=gaps(self.answered),
            hidden_s=hidden_s,
            rounds=self.rounds,
            reported=self.reported,
            pace=Pace(taken_s, self.expected_s),
            checks=self.checks,
        )


# The stages in the order of a session, with the columns that are read and the method that reads them.
TASKS: tuple[tuple[type[Task], tuple[str, ...], Callable[..., None]], ...] = (
    (
        MemoryRound,
        ("exposed_at", "exposure_ms", "shown_ms", "trial", "length", "response_ms"),
        SessionReader.memory_round,
    ),
    (TeachingStep, ("response_ms", "is_correct"), SessionReader.teaching_step),
    (
        EvaluationItem,
        ("response_ms", "is_correct", "answer", "instructed_label"),
        SessionReader.evaluation_item,
    ),
)


def class_counts(people: People) -> Mapping[int, int]:
    """The number of classes that each participant could choose from, according to their version."""
    versions = dict(people.order_by().values_list("pk", "version"))
    used = StudyVersion.objects.using(people.db).filter(pk__in=set(versions.values()))
    datasets = {version.pk: version.configuration["dataset"]["key"] for version in used}
    rows = Dataset.objects.using(people.db).filter(key__in=set(datasets.values())).order_by()
    classes = dict(rows.values_list("key").annotate(Count("classes")))
    return {person: classes.get(datasets[version], 2) for person, version in versions.items()}


def hidden_by_person(people: People) -> Mapping[int, list[float]]:
    """How long the page was out of view each time, in seconds."""
    kinds = SessionEvent.Kind
    rows = (
        SessionEvent.objects.using(people.db)
        .filter(
            participant__in=people.values("pk"),
            kind__in=(kinds.HIDDEN, kinds.SHOWN, kinds.OPENED),
        )
        .order_by("at", "pk")
        .values_list("participant_id", "kind", "at")
    )
    events: defaultdict[int, list[tuple[bool, datetime]]] = defaultdict(list)
    for person, kind, at in rows.iterator():
        events[person].append((kind == kinds.HIDDEN, at))
    return {person: hidden_times(own) for person, own in events.items()}


def other_sessions(people: People) -> dict[int, list[str]]:
    """Where else the platform ids of these people gave consent, by participant. Includes those other sessions."""
    ids = people.exclude(external_id="").order_by().values("external_id")
    rows = (
        Participant.objects.using(people.db)
        .filter(external_id__in=ids, consented_at__isnull=False, purpose__in=OTHER_SESSIONS)
        .only("pk", "study_id", "purpose", "recruiter", "external_id")
    )
    by_id = defaultdict(list)
    for row in rows.order_by("pk"):
        by_id[row.recruiter, row.external_id].append(row)
    places: dict[int, list[str]] = {}
    for sessions in by_id.values():
        for row in sessions if len(sessions) > 1 else ():
            others = [other for other in sessions if other.pk != row.pk]
            here = {other.purpose for other in others if other.study_id == row.study_id}
            # Other studies are counted, not named: they may belong to other researchers.
            studies = {other.study_id for other in others if other.study_id != row.study_id}
            places[row.pk] = [place for purpose, place in OTHER_SESSIONS.items() if purpose in here]
            if studies:
                count = len(studies)
                places[row.pk].append("1 other study" if count == 1 else f"{count} other studies")
    return places


# Exclusion


@transaction.atomic
def decide(participant: Participant, *, excludes: bool, reason: str, actor: Any) -> bool:
    """Exclude or include a participant. Return False if that was already so; then the first reason stands."""
    reason = " ".join(reason.replace("\0", "").split())
    if not reason:
        raise ValidationError("Give a reason. It is stored with the decision.")
    if len(reason) > MAX_REASON:
        raise ValidationError(f"Give the reason in at most {MAX_REASON} characters.")
    # One statement, so that of two simultaneous decisions only one is stored.
    rows = Participant.objects.filter(pk=participant.pk, is_excluded=not excludes)
    if not rows.update(is_excluded=excludes):
        return False
    chain.seal(participant.pk)
    Decision.objects.create(
        participant=participant,
        excludes=excludes,
        reason=reason,
        actor=actor,
        actor_name=actor.get_username(),
    )
    action = AuditEntry.Action.EXCLUDE if excludes else AuditEntry.Action.INCLUDE
    verb = "Excluded" if excludes else "Undid the exclusion of"
    detail = f"{verb} {participant.code}: {reason}"
    audit.record(action, detail, study=participant.study, actor=actor)
    participant.is_excluded = excludes
    return True


# The page


@dataclass(frozen=True)
class ListedPerson:
    """A flagged or excluded participant."""

    participant: Participant
    flags: Flags
    decision: Decision | None = None

    @property
    def teacher(self) -> str:
        return teacher_title(self.participant.arm)

    @property
    def is_strong(self) -> bool:
        return any(flag.rule.is_strong for flag in self.flags)

    @property
    def keys(self) -> set[str]:
        keys = {flag.rule.key for flag in self.flags}
        return keys | {EXCLUDED} if self.participant.is_excluded else keys


def listed(study: Study) -> list[ListedPerson]:
    """The most strong flags first, then the most flags, then the newest."""
    live = study.participants.live()
    rows = list(live.only(*PERSON_FIELDS).order_by("-created_at", "-pk"))
    flags = flags_by_person(live, rows)
    people = [ListedPerson(row, flags.get(row.pk, ())) for row in rows]

    def weight(person: ListedPerson) -> tuple[int, int]:
        return sum(flag.rule.is_strong for flag in person.flags), len(person.flags)

    return sorted((one for one in people if one.keys), key=weight, reverse=True)


def quality(request: HttpRequest, study: Study) -> HttpResponse:
    everybody = listed(study)
    counts = Counter(key for person in everybody for key in person.keys)
    titles = {rule.key: rule.title for rule in RULES} | {EXCLUDED: "Excluded"}
    requested = request.GET.get("flag", "")
    selected = requested if requested in titles else ""
    # The legend names all flags; the filter only those that somebody has.
    options = {"": f"All ({len(everybody)})"} | {
        key: f"{title} ({counts[key]})"
        for key, title in titles.items()
        if counts[key] or key == selected
    }
    shown = [person for person in everybody if not selected or selected in person.keys]
    page = Paginator(shown, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "people": list(with_decisions(list(page.object_list))),
        "query": query_string({"flag": selected}),
        "filters": [filter_links("Flag", "flag", options, {"flag": selected})],
        "legend": [(rule, counts[rule.key]) for rule in RULES],
        "decisions": decision_table(study),
        "total": len(everybody),
        "strong": sum(person.is_strong for person in everybody),
    }
    return study_page(request, study, "admin/desk/quality.html", "Quality", context)


def with_decisions(people: Sequence[ListedPerson]) -> Iterator[ListedPerson]:
    """Add the latest decision about each participant."""
    rows = Decision.objects.filter(participant__in=[person.participant.pk for person in people])
    latest = {row.participant_id: row for row in rows.order_by("at", "pk")}
    for person in people:
        decision = latest.get(person.participant.pk)
        yield ListedPerson(person.participant, person.flags, decision)


def decision_table(study: Study) -> Table:
    decisions = (
        Decision.objects.filter(participant__study=study)
        .select_related("participant")
        .only("excludes", "reason", "at", "actor_name", "participant__code", "participant__study")
    )
    rows = [
        [
            format_minute(decision.at),
            participant_link(decision.participant_id, decision.participant.code),
            "excluded" if decision.excludes else "included again",
            decision.reason,
            decision.actor_name,
        ]
        for decision in decisions[:MAX_DECISIONS]
    ]
    return Table("Decisions", DECISION_COLUMNS, rows, is_tall=True)


def exclusion(request: HttpRequest, study: Study, person: int) -> HttpResponseBase:
    """Exclude a participant, or undo it."""
    participant = get_object_or_404(study.participants, pk=person)
    excludes = request.POST.get("decision") != "include"
    reason = request.POST.get("reason", "")
    success = partial(messages.success, request)
    try:
        if not decide(participant, excludes=excludes, reason=reason, actor=request.user):
            state = "excluded" if excludes else "included"
            success(f"{participant.code} was already {state}; nothing changed.")
        elif excludes:
            success(f"{participant.code} is now excluded from results, files, balance and payment.")
        else:
            success(f"{participant.code} is included again everywhere.")
    except ValidationError as error:
        messages.error(request, error.message)
    if request.POST.get("from") == "participant":
        return redirect("admin:studies_participant_change", participant.pk)
    return redirect(address(study, "quality"))


PAGES = (
    Page("quality", "quality/", quality, title="Quality"),
    Page("exclusion", "people/<int:person>/exclusion/", exclusion, edits=True, posts=True),
)
