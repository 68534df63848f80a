"""Where everybody of a study stands: one question to the database, and counts by arm from its answer."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, Exists, Min, OuterRef, Q, QuerySet, Value, When

from . import stages
from .models import Participant, Study

Stage = Participant.Stage
UNDER_WAY = "under way"
# People in these stages left traces of how far they got, but not in the stage that is stored.
CUT_SHORT = (Stage.DECLINED, Stage.ABANDONED, Stage.WITHDRAWN)


@dataclass(frozen=True)
class OutcomeGroup:
    """How many people have the same stage, arm and so on. An overdue session counts as abandoned, marked or not."""

    arm: str
    """Empty before assignment."""
    reached: str
    """The last stage that they came to, whatever became of them there."""
    outcome: str
    """`under way`, or the name of the stage in which the session ended."""
    is_excluded: bool
    count: int


def outcome_groups(
    study: Study,
    purpose: str = Participant.Purpose.LIVE,
    versions: Sequence[int] | None = None,
) -> tuple[OutcomeGroup, ...]:
    """Everybody who joined for a purpose, or only with some versions of the settings; excluded people too."""
    people = study.participants.filter(purpose=purpose)
    if versions is not None:
        people = people.filter(version__number__in=versions)
    rows = (
        people.order_by()
        .values_list("arm", furthest_stage(), "stage", "is_excluded")
        .annotate(total=Count("pk"), late=Count("pk", filter=Q(last_seen_at__lt=study.cutoff)))
    )
    return tuple(group for row in rows for group in _groups(*row) if group.count)


def furthest_stage() -> Case:
    """The last stage that a participant reached, or that the session was done."""
    first, *later = stages.flow()
    marks = [When(reached(stage), Value(stage.name)) for stage in reversed(later)]
    return Case(When(~Q(stage__in=CUT_SHORT), "stage"), *marks, default=Value(first.name))


@dataclass(frozen=True)
class Progress:
    """How many units of a stage a participant has done, and since when there are tasks."""

    done: int
    since: datetime


def progress_in(stage: stages.Stage, people: Iterable[Participant]) -> dict[int, Progress]:
    """How far each of these participants is in a stage, by primary key and in one query."""
    keys = [person.pk for person in people]
    if stage.task_model is None or not keys:
        return {}
    rows = stage.task_model._default_manager.filter(participant__in=keys).order_by()
    found = rows.values_list("participant").annotate(done=stage.units_done, since=Min("created_at"))
    return {key: Progress(done, since) for key, done, since in found}


def reached(stage: stages.Stage) -> Q:
    """Whether a participant ever came to a stage, as a condition on the row."""
    if column := start_column(stage):
        condition = Q(**{f"{column}__isnull": False})
    elif stage.task_model:
        tasks = stage.task_model._default_manager.filter(participant=OuterRef("pk"))
        condition = Q(Exists(tasks))
    else:
        raise TypeError(f"The stage “{stage.name}” has neither tasks nor a column for its start.")
    return condition | stage.also_reached if stage.also_reached else condition


def began_at(stage: stages.Stage, participant: Participant) -> datetime | None:
    """When a participant came to a stage."""
    if column := start_column(stage):
        return getattr(participant, column)  # type: ignore[no-any-return]
    found = progress_in(stage, [participant]).get(participant.pk)
    return found.since if found else None


def start_column(stage: stages.Stage) -> str:
    """The participant's column with the start of a stage: its own, or that of the end of the stage before."""
    earlier = stages.before(stage.name)
    return stage.began_column or (earlier.ended_column if earlier else "")


def _groups(
    arm: str, reached: str, stage: str, is_excluded: bool, total: int, late: int
) -> tuple[OutcomeGroup, ...]:
    if stage in Participant.ENDS:
        return (OutcomeGroup(arm, reached, stage, is_excluded, total),)
    return (
        OutcomeGroup(arm, reached, UNDER_WAY, is_excluded, total - late),
        OutcomeGroup(arm, reached, Stage.ABANDONED, is_excluded, late),
    )


@dataclass(frozen=True)
class HeadCount:
    """What became of some people. Who was excluded is counted once, there."""

    done: int
    under_way: int
    abandoned: int
    declined: int
    withdrawn: int
    excluded: int

    @property
    def ended(self) -> int:
        return self.done + self.abandoned + self.declined + self.withdrawn

    @property
    def joined(self) -> int:
        return self.ended + self.under_way + self.excluded

    @property
    def lost(self) -> float | None:
        """The share of those whose session has ended that did not finish."""
        return (self.ended - self.done) / self.ended if self.ended else None


def head_count(groups: Iterable[OutcomeGroup]) -> HeadCount:
    everybody = tuple(groups)

    def having(outcome: str) -> int:
        return sum(g.count for g in everybody if g.outcome == outcome and not g.is_excluded)

    return HeadCount(
        done=having(Stage.DONE),
        under_way=having(UNDER_WAY),
        abandoned=having(Stage.ABANDONED),
        declined=having(Stage.DECLINED),
        withdrawn=having(Stage.WITHDRAWN),
        excluded=sum(group.count for group in everybody if group.is_excluded),
    )


def by_arm(study: Study, groups: Iterable[OutcomeGroup]) -> dict[str, HeadCount]:
    """The arms of the settings first, in their order, then arms found only in rows, then "" for people without one."""
    everybody = tuple(groups)
    known = sorted({group.arm for group in everybody if group.arm})
    arms = dict.fromkeys([*study.arm_names, *known, ""])
    return {arm: head_count(group for group in everybody if group.arm == arm) for arm in arms}


def with_counts(studies: QuerySet[Any]) -> QuerySet[Any]:
    """Each study with the number of people who count: `joined_count`, and `done_count` of them to the end."""
    live = Q(participants__purpose=Participant.Purpose.LIVE)
    done = live & Q(participants__stage=Stage.DONE)
    counted: QuerySet[Any] = studies.annotate(
        joined_count=Count("participants", filter=live),
        done_count=Count("participants", filter=done),
    )
    return counted


@dataclass(frozen=True)
class Enrolment:
    """Everybody who ever joined, and how many of them are excluded, by purpose."""

    joined: Counter[str]
    excluded: Counter[str]

    @property
    def counted(self) -> int:
        """Those whose results count."""
        live = Participant.Purpose.LIVE
        return self.joined[live] - self.excluded[live]


def enrolment(
    study: Study, using: str | None = None, versions: Sequence[int] | None = None
) -> Enrolment:
    """Of a study, or of some versions of its settings."""
    everybody = Participant.objects.using(using).filter(study=study).order_by()
    if versions is not None:
        everybody = everybody.filter(version__number__in=versions)
    joined: Counter[str] = Counter(dict.fromkeys(Participant.Purpose.values, 0))
    excluded = joined.copy()
    for purpose, is_excluded, count in everybody.values_list("purpose", "is_excluded").annotate(
        Count("pk")
    ):
        joined[purpose] += count
        excluded[purpose] += count * is_excluded
    return Enrolment(joined, excluded)
