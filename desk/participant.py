"""The page of one participant: results, and the whole session from the first memory round to the last answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any

from django.utils import timezone

from analysis.charts import formatting
from analysis.charts.tables import Column, Table, number_columns
from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import stages
from studies.head_counts import began_at
from studies.models import BetaMapping, Participant
from studies.software import software_version
from studies.verification import check_participant
from teaching.choice import load_pool
from teaching.engine import EngineError
from teaching.models import TeachingStep
from teaching.teachers import teacher_title

from .page import format_date
from .why import Standing, answer_context, p_of, standings

# A pool of this size is replayed in half a second; larger ones only on request.
MAX_AUTOMATIC_REPLAY = 5_000
# A longer list of events is collapsed.
MAX_VISIBLE_EVENTS = 12

# The page shows these tasks in detail and lists those of other stages.
DETAILED_TASKS = (MemoryRound, TeachingStep, EvaluationItem)

ROUND_COLUMNS = (
    Column("Trial"),
    *number_columns("n"),
    Column("Shown"),
    Column("Restored"),
    Column("Result"),
)
EVENT_COLUMNS = (
    Column("When, UTC"),
    Column("What"),
    *number_columns("At task"),
    Column("Detail"),
)

Fact = tuple[str, str]


def participant_context(participant: Participant, *, replay: bool) -> dict[str, Any]:
    check = replay_check(participant, on_request=replay)
    rounds = list(MemoryRound.objects.filter(participant=participant).order_by("position"))
    return {
        "participant": participant,
        "dataset": participant.study_as_joined.dataset,
        "teacher": teacher_title(participant.arm),
        "result_facts": result_facts(participant),
        "person_facts": person_facts(participant),
        "time_facts": time_facts(participant),
        "record_facts": record_facts(participant),
        "check": check,
        "chain": check_participant(participant),
        "frames": step_rows(check.steps, participant),
        "memory_rounds": round_table(rounds),
        "trials": trials(rounds),
        "evaluation": item_rows(participant),
        "other_stages": other_stages(participant),
        "events": event_table(participant),
        "events_in_view": MAX_VISIBLE_EVENTS,
    }


# Results and times


def result_facts(participant: Participant) -> list[Fact]:
    shown = participant.unique_examples
    different = formatting.UNKNOWN if shown is None else f"{shown} of {participant.teaching_steps}"
    return [
        ("teaching gain", formatting.points_with_unit(participant.teaching_gain)),
        ("first-seen accuracy", formatting.share(participant.first_seen_accuracy)),
        ("evaluation accuracy", formatting.share(participant.evaluation_accuracy)),
        ("κ of the evaluation", formatting.decimal(participant.evaluation_kappa, 2)),
        ("different images", different),
    ]


def person_facts(participant: Participant) -> list[Fact]:
    span = participant.memory_span
    low, high = participant.beta_fitted_low, participant.beta_fitted_high
    fitted = formatting.UNKNOWN
    if low is not None and high is not None:
        limits = f"{formatting.decimal(low, 2)} to {formatting.decimal(high, 2)}"
        fitted = f"{formatting.decimal(participant.beta_fitted, 2)} ({limits})"
    return [
        ("teacher", teacher_title(participant.arm) or formatting.UNKNOWN),
        ("memory span n̄", formatting.UNKNOWN if span is None else f"{span:g}"),
        (
            "span in each trial",
            ", ".join(map(str, participant.memory_lengths)) or formatting.UNKNOWN,
        ),
        ("memory decay β", formatting.decimal(participant.beta, 3)),
        *mapping_facts(participant),
        ("β fitted to the answers", fitted),
    ]


def mapping_facts(participant: Participant) -> list[Fact]:
    """How β follows from the memory test, unless as in the paper."""
    mapping, inputs = participant.beta_mapping, participant.beta_inputs
    if mapping == BetaMapping.FIXED:
        return [("β is", "fixed by the study")]
    if mapping != BetaMapping.SHRUNKEN:
        return []
    span, mean = (formatting.decimal(inputs[name], 2) for name in ("shrunken_span", "mean"))
    weight, people = formatting.share(inputs["weight"], 0), inputs["people"]
    return [
        (
            "span, shrunk towards the mean",
            f"{span} (mean {mean} of {people} participants and the prior; weight of the own span {weight})",
        )
    ]


def time_facts(participant: Participant) -> list[Fact]:
    def minutes(start: datetime | None, end: datetime | None) -> str:
        if start is None or end is None:
            return formatting.UNKNOWN
        return f"{(end - start).total_seconds() / 60:.1f}{formatting.NBSP}min"

    flow, finished = stages.flow(), participant.finished_at
    moments = [*(began_at(stage, participant) for stage in flow), finished]
    durations = [
        (stage.label, minutes(began, ended))
        for stage, (began, ended) in zip(flow, pairwise(moments), strict=True)
        if stage.is_counted
    ]
    return [
        ("joined", format_date(participant.created_at)),
        *durations,
        ("total", minutes(participant.created_at, finished)),
        ("last seen", format_date(participant.last_seen_at)),
    ]


def record_facts(participant: Participant) -> list[Fact]:
    """What is needed to reproduce the session."""
    ticket = participant.ticket
    return [
        ("study version", f"{participant.version.number}"),
        ("configuration hash", participant.version.hash[:12]),
        ("software", participant.software_version or formatting.UNKNOWN),
        ("seed", f"{participant.seed}"),
        ("ticket", formatting.UNKNOWN if ticket is None else f"{ticket}"),
        ("head of the hash chain", participant.chain_head[:12] or formatting.UNKNOWN),
    ]


# Teaching


@dataclass(frozen=True)
class ReplayCheck:
    """The steps of teaching, and whether recomputing them gives the same choices."""

    steps: Sequence[tuple[TeachingStep, Standing | None]]
    is_done: bool = False
    refusal: str = ""
    """Why the session cannot be replayed."""
    software_then: str = ""
    software_now: str = ""

    @property
    def differing(self) -> list[int]:
        compared = [(step, stand) for step, stand in self.steps if stand and stand.is_comparable]
        return [step.step for step, stand in compared if not stand.matches]

    @property
    def earlier(self) -> int:
        """How many choices are of an earlier version of the teacher, and cannot be compared."""
        return sum(stand is not None and not stand.is_comparable for _, stand in self.steps)

    @property
    def matching(self) -> int:
        return len(self.steps) - len(self.differing) - self.earlier


def replay_check(participant: Participant, *, on_request: bool) -> ReplayCheck:
    if not participant.arm:
        return ReplayCheck([])
    refusal = ""
    try:
        size = load_pool(participant.study_as_joined.dataset).pool.n
        if size <= MAX_AUTOMATIC_REPLAY or on_request:
            return ReplayCheck(
                standings(participant),
                is_done=True,
                software_then=participant.software_version,
                software_now=software_version(),
            )
    except EngineError as error:
        refusal = str(error)
    steps = [(step, None) for step in TeachingStep.objects.of(participant)]
    return ReplayCheck(steps, refusal=refusal)


def step_rows(
    steps: Sequence[tuple[TeachingStep, Standing | None]], participant: Participant
) -> list[dict[str, Any]]:
    places = formatting.places_for(step.score for step, _ in steps if step.score is not None)
    rows = []
    for step, standing in steps:
        is_random = step.is_random or (standing is not None and standing.rank is None)
        rows.append(
            answer_context(step, participant)
            | {
                "number": step.step,
                "is_random": step.is_random,
                "is_by_chance": is_random,
                "is_first_showing": step.is_first_showing,
                "p": formatting.decimal(p_of(step.probabilities, step.example.label), 2),
                "score": "" if is_random else formatting.decimal(step.score, places),
                "standing": standing,
                "kind": step.learner_kind,
                "kind_p": formatting.share(step.learner_kind_p, 0),
            }
        )
    return rows


# The other stages


def trials(rounds: Sequence[MemoryRound]) -> list[dict[str, Any]]:
    """The rounds of the memory test, by trial."""
    return [
        {
            "name": f"Trial {trial}" if trial else "Practice",
            "rounds": [
                {
                    "length": row.length,
                    "is_correct": row.is_correct,
                    "planned": formatting.seconds(row.exposure_ms),
                    "shown": formatting.seconds(row.shown_ms),
                    "time": formatting.seconds(row.response_ms),
                    "exposures": row.exposures,
                }
                for row in rows
            ],
        }
        for trial, rows in groupby(rounds, key=lambda row: row.trial)
    ]


def round_table(rounds: Sequence[MemoryRound]) -> Table:
    rows = [
        [
            "practice" if row.is_practice else row.trial,
            row.length,
            ", ".join(row.pictures),
            ", ".join(row.restored or ()) or formatting.UNKNOWN,
            {True: "right", False: "wrong", None: formatting.UNKNOWN}[row.is_correct],
        ]
        for row in rounds
    ]
    return Table("Every round with its pictures", ROUND_COLUMNS, rows)


def item_rows(participant: Participant) -> list[dict[str, Any]]:
    """The items of the evaluation."""
    names = participant.study_as_joined.dataset.class_names
    return [
        answer_context(item, participant)
        | {
            "number": item.item,
            "asked": "" if item.instructed_label is None else names[item.instructed_label],
            "is_passed": item.is_passed,
        }
        for item in EvaluationItem.objects.of(participant)
    ]


def event_table(participant: Participant) -> Table:
    rows = [
        [
            f"{timezone.localtime(event.at):%-d %b, %H:%M:%S}",
            event.get_kind_display(),
            event.position,
            event.detail or formatting.UNKNOWN,
        ]
        for event in participant.events.all()
    ]
    return Table("Events", EVENT_COLUMNS, rows)


def other_stages(participant: Participant) -> list[dict[str, Any]]:
    """The tasks of all other stages with their response times."""
    return [
        {
            "name": stage.name,
            "title": stage.label.capitalize(),
            "tasks": [
                {"position": task.position, "time": formatting.seconds(task.response_ms)}
                for task in stage.task_model._default_manager.filter(participant=participant)
            ],
        }
        for stage in stages.flow()
        if stage.task_model and stage.task_model not in DETAILED_TASKS
    ]
