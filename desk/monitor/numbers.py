"""The numbers of the live monitor: where everybody is, how long it takes, and what went wrong. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone

from desk.checks.facts import session_times
from studies import head_counts, stages
from studies.head_counts import UNDER_WAY, HeadCount, OutcomeGroup, Progress
from studies.models import Participant, SessionEvent, Study

Stage = Participant.Stage
PAGE_SIZE = 50
EVERYBODY, EXCLUDED = "everybody", "excluded"
UNASSIGNED = "none"
RECENTLY = timedelta(days=1)
MOST_TROUBLES = 10
TROUBLES = (SessionEvent.Kind.SERVER, SessionEvent.Kind.ERROR, SessionEvent.Kind.OFFLINE)


@dataclass(frozen=True)
class MonitorFilter:
    """Whom the monitor shows: people of one purpose, and in its list those at a place, of an arm."""

    purpose: str = Participant.Purpose.LIVE
    place: str = UNDER_WAY
    """`under way`, the name of a stage, `excluded` or `everybody`."""
    arm: str = ""
    """Empty for all, `none` for those who have none yet."""

    def takes(self, group: OutcomeGroup) -> bool:
        return self._takes_place(group) and self._takes_arm(group.arm)

    def _takes_arm(self, arm: str) -> bool:
        return not self.arm or arm == ("" if self.arm == UNASSIGNED else self.arm)

    def _takes_place(self, group: OutcomeGroup) -> bool:
        if self.place in (EVERYBODY, EXCLUDED):
            return group.is_excluded or self.place == EVERYBODY
        if self.place in (UNDER_WAY, *Participant.ENDS):
            return group.outcome == self.place
        return group.outcome == UNDER_WAY and group.reached == self.place

    def condition(self, cutoff: datetime) -> Q:
        """The same as `takes`, as a question to the database."""
        arm = Q(arm="" if self.arm == UNASSIGNED else self.arm) if self.arm else Q()
        return Q(purpose=self.purpose) & arm & self._condition_of_place(cutoff)

    def _condition_of_place(self, cutoff: datetime) -> Q:
        going = ~Q(stage__in=Participant.ENDS)
        conditions = {
            EVERYBODY: Q(),
            EXCLUDED: Q(is_excluded=True),
            UNDER_WAY: going & Q(last_seen_at__gte=cutoff),
            Stage.ABANDONED: Q(stage=Stage.ABANDONED) | going & Q(last_seen_at__lt=cutoff),
        }
        if self.place in conditions:
            return conditions[self.place]
        seen_lately = Q() if self.place in Participant.ENDS else Q(last_seen_at__gte=cutoff)
        return Q(stage=self.place) & seen_lately


@dataclass(frozen=True)
class Step:
    """A stage of the funnel: how many reached it, are there now, and were lost there."""

    stage: str
    reached: int
    here: int
    lost: int


def funnel(groups: Sequence[OutcomeGroup]) -> list[Step]:
    """From joining to the end, excluded people too: they went the same way."""
    names, steps = [*stages.labels(), Stage.DONE.value], []
    for place, stage in enumerate(names):
        here = [group for group in groups if group.reached == stage]
        further = sum(group.count for group in groups if group.reached in names[place:])
        going = sum(g.count for g in here if g.outcome == UNDER_WAY)
        ended = sum(g.count for g in here if g.outcome not in (UNDER_WAY, Stage.DONE))
        steps.append(Step(stage, further, going, ended))
    return steps


@dataclass(frozen=True)
class Place:
    """Where one participant is: since when, and how much of the stage is done."""

    participant: Participant
    status: str
    since: datetime
    progress: tuple[int, int] | None
    """Units that are done, of how many; None outside of the stages that have tasks."""


@dataclass(frozen=True)
class Monitor:
    """Everything the page shows, asked once each."""

    study: Study
    choice: MonitorFilter
    page: int = 1

    @cached_property
    def groups(self) -> tuple[OutcomeGroup, ...]:
        return head_counts.outcome_groups(self.study, self.choice.purpose)

    @cached_property
    def head_count(self) -> HeadCount:
        return head_counts.head_count(self.groups)

    @cached_property
    def arms(self) -> dict[str, HeadCount]:
        return head_counts.by_arm(self.study, self.groups)

    @cached_property
    def funnel(self) -> list[Step]:
        return funnel(self.groups)

    @property
    def places_taken(self) -> int:
        """As joining counts them: finished or taking part, excluded people too."""
        return sum(g.count for g in self.groups if g.outcome in (UNDER_WAY, Stage.DONE))

    def count(self, choice: MonitorFilter) -> int:
        """How many a list would have, over all of its pages."""
        return sum(group.count for group in self.groups if choice.takes(group))

    @property
    def listed(self) -> int:
        return self.count(self.choice)

    @property
    def pages(self) -> int:
        return max(1, -(-self.listed // PAGE_SIZE))

    @cached_property
    def median_duration(self) -> timedelta | None:
        """From consent to the end, of those who finished and count."""
        times = session_times(self.study, self.choice.purpose)
        return times.median if times else None

    @cached_property
    def people(self) -> list[Place]:
        """One page of the list, the newest first, so that rows do not move while it is read."""
        start = (min(self.page, self.pages) - 1) * PAGE_SIZE
        rows = self.study.participants.filter(self.choice.condition(self.study.cutoff))
        chosen = list(rows.select_related("version").order_by("-pk")[start : start + PAGE_SIZE])
        for participant in chosen:
            participant.study = self.study
        progress = progress_of(chosen)
        return [place_of(person, progress.get(person.pk)) for person in chosen]

    @cached_property
    def troubles(self) -> Sequence[Mapping[str, Any]]:
        """Errors of the last day, those of one kind and wording counted together."""
        people = {"participant__study": self.study, "participant__purpose": self.choice.purpose}
        lately = SessionEvent.objects.filter(at__gte=timezone.now() - RECENTLY, **people)
        alike = lately.filter(kind__in=TROUBLES).order_by().values("kind", "detail")
        counted = alike.annotate(
            count=Count("pk"), people=Count("participant", distinct=True), last=Max("at")
        )
        return list(counted.order_by("-people", "-count", "-last")[:MOST_TROUBLES])


def progress_of(people: Sequence[Participant]) -> dict[int, Progress]:
    """How far each of them is in a stage, by at most one query for each stage."""
    progress: dict[int, Progress] = {}
    for stage in stages.flow():
        there = [person for person in people if person.stage == stage.name]
        progress |= head_counts.progress_in(stage, there)
    return progress


def place_of(participant: Participant, progress: Progress | None) -> Place:
    if participant.has_expired or not participant.is_under_way:
        outcome = Stage.ABANDONED if participant.has_expired else participant.stage
        ended_at = participant.finished_at or participant.last_seen_at
        return Place(participant, outcome, ended_at, progress=None)
    stage = stages.by_name()[participant.stage]
    total = (
        participant.teaching_steps
        if stage.assigns_arm
        else max(stage.lengths(participant.study_as_joined))
    )
    units = (progress.done, total) if progress and total else None
    return Place(participant, participant.stage, since(participant, stage, progress), units)


def since(participant: Participant, stage: stages.Stage, progress: Progress | None) -> datetime:
    """When the participant came to the stage: by the row's own column, or by the stage's first task."""
    column = head_counts.start_column(stage)
    moment: datetime | None = getattr(participant, column) if column else None
    return moment or (progress.since if progress else participant.last_seen_at)
