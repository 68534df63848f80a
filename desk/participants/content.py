"""What the page of a participant shows: facts, and the whole session from its first round to its last answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any

from django.utils import timezone

from analysis.charts import formatting
from analysis.charts.tables import Column, Table, number_columns
from desk.base.cells import moment
from desk.why.explanation import Standing, p_of, standings
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

# A pool of this size is replayed in half a second; a larger one only when somebody asks.
REPLAYED_AT_ONCE = 5_000
# More events than this are folded away.
EVENTS_IN_VIEW = 12

# The tasks that the page shows as images and rounds; those of other stages are listed.
PICTURED = (MemoryRound, TeachingStep, EvaluationItem)

ROUNDS = (
    Column("Trial"),
    *number_columns("n"),
    Column("Shown"),
    Column("Restored"),
    Column("Result"),
)
EVENTS = (Column("When, UTC"), Column("What"), *number_columns("At task"), Column("Detail"))

Fact = tuple[str, str]


def participant_page(participant: Participant, *, wants_replay: bool) -> dict[str, Any]:
    check = replay_check(participant, wants_replay=wants_replay)
    rounds = list(MemoryRound.objects.filter(participant=participant).order_by("position"))
    items = list(EvaluationItem.objects.of(participant))
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
        "frames": frames(check.steps, participant),
        "memory_rounds": round_table(rounds),
        "trials": trials(rounds),
        "evaluation": [evaluation_cell(item, participant) for item in items],
        "other_stages": other_stages(participant),
        "events": event_table(participant),
        "events_in_view": EVENTS_IN_VIEW,
    }


# Facts


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
    span, lengths = participant.memory_span, participant.memory_lengths
    measured = formatting.UNKNOWN if span is None else f"{span:g}"
    return [
        ("teacher", teacher_title(participant.arm) or formatting.UNKNOWN),
        ("memory span n̄", measured),
        ("of the trials", ", ".join(str(length) for length in lengths) or formatting.UNKNOWN),
        ("memory decay β", formatting.decimal(participant.beta, 3)),
        *mapping_facts(participant),
        ("β that fits the answers", fitted_words(participant)),
    ]


def mapping_facts(participant: Participant) -> list[Fact]:
    """How β came from the memory test, where that is not the paper's way."""
    mapping, inputs = participant.beta_mapping, participant.beta_inputs
    if mapping == BetaMapping.FIXED:
        return [("β is", "fixed by the study")]
    if mapping != BetaMapping.SHRUNKEN:
        return []
    span, mean = (formatting.decimal(inputs[name], 2) for name in ("shrunken_span", "mean"))
    weight, people = formatting.share(inputs["weight"], 0), inputs["people"]
    measured = f"mean {mean} of {people} people and the prior, {weight} of the distance kept"
    return [("shrunken span", f"{span} ({measured})")]


def fitted_words(participant: Participant) -> str:
    low, high = participant.beta_fitted_low, participant.beta_fitted_high
    if low is None or high is None:
        return formatting.UNKNOWN
    limits = f"{formatting.decimal(low, 2)} to {formatting.decimal(high, 2)}"
    return f"{formatting.decimal(participant.beta_fitted, 2)} ({limits})"


def time_facts(participant: Participant) -> list[Fact]:
    flow, finished = stages.flow(), participant.finished_at
    moments = [*(began_at(stage, participant) for stage in flow), finished]
    durations = [
        (stage.label, minutes(began, ended))
        for stage, (began, ended) in zip(flow, pairwise(moments), strict=True)
        if stage.is_counted
    ]
    return [
        ("joined", moment(participant.created_at)),
        *durations,
        ("all of it", minutes(participant.created_at, finished)),
        ("last seen", moment(participant.last_seen_at)),
    ]


def record_facts(participant: Participant) -> list[Fact]:
    """What a calculation from the same data starts from."""
    ticket = participant.ticket
    return [
        ("study version", f"{participant.version.number}"),
        ("configuration hash", participant.version.hash[:12]),
        ("software", participant.software_version or formatting.UNKNOWN),
        ("seed", f"{participant.seed}"),
        ("ticket", formatting.UNKNOWN if ticket is None else f"{ticket}"),
        ("head of the answers’ chain", participant.chain_head[:12] or formatting.UNKNOWN),
    ]


def minutes(start: datetime | None, end: datetime | None) -> str:
    if start is None or end is None:
        return formatting.UNKNOWN
    return f"{(end - start).total_seconds() / 60:.1f}\N{NO-BREAK SPACE}min"


# Teaching


@dataclass(frozen=True)
class ReplayCheck:
    """The steps of teaching, and whether today's calculation makes the same choices."""

    steps: Sequence[tuple[TeachingStep, Standing | None]]
    is_done: bool = False
    refusal: str = ""
    """why the session cannot be replayed at all"""
    software_then: str = ""
    software_now: str = ""

    @property
    def differing(self) -> list[int]:
        return [step.step for step, stand in self.steps if stand and not stand.matches]

    @property
    def matching(self) -> int:
        return len(self.steps) - len(self.differing)


def replay_check(participant: Participant, *, wants_replay: bool) -> ReplayCheck:
    if not participant.arm:
        return ReplayCheck([])
    try:
        is_small = load_pool(participant.study_as_joined.dataset).pool.n <= REPLAYED_AT_ONCE
        if not (is_small or wants_replay):
            return ReplayCheck(unchecked(participant))
        return ReplayCheck(
            standings(participant),
            is_done=True,
            software_then=participant.software_version,
            software_now=software_version(),
        )
    except EngineError as refusal:
        return ReplayCheck(unchecked(participant), refusal=str(refusal))


def unchecked(participant: Participant) -> list[tuple[TeachingStep, None]]:
    return [(step, None) for step in TeachingStep.objects.of(participant)]


def frames(
    steps: Sequence[tuple[TeachingStep, Standing | None]], participant: Participant
) -> list[dict[str, Any]]:
    places = formatting.places_for(step.score for step, _ in steps if step.score is not None)
    return [frame(step, standing, places, participant) for step, standing in steps]


def frame(
    step: TeachingStep, standing: Standing | None, places: int, participant: Participant
) -> dict[str, Any]:
    """One picture of the film strip."""
    is_by_chance = step.is_random or (standing is not None and standing.rank is None)
    return answer_words(step, participant) | {
        "number": step.step,
        "is_random": step.is_random,
        "is_by_chance": is_by_chance,
        "is_first_showing": step.is_first_showing,
        "p": formatting.decimal(p_of(step.probabilities, step.example.label), 2),
        "score": "" if is_by_chance else formatting.decimal(step.score, places),
        "standing": standing,
        "kind": step.learner_kind,
        "kind_p": formatting.share(step.learner_kind_p, 0),
    }


def answer_words(task: TeachingStep | EvaluationItem, participant: Participant) -> dict[str, Any]:
    """A classified image: what it is, what was said, and how fast."""
    dataset = participant.study_as_joined.dataset
    return {
        "key": task.example.key,
        "truth": dataset.class_names[task.example.label],
        "said": "" if task.answer is None else dataset.class_names[task.answer],
        "is_correct": task.is_correct,
        "time": formatting.seconds(task.response_ms),
    }


# The other stages


def trials(rounds: Sequence[MemoryRound]) -> list[dict[str, Any]]:
    """The memory test, a row for each trial."""
    return [
        {"name": "Practice" if not trial else f"Trial {trial}", "rounds": [*map(round_words, some)]}
        for trial, some in groupby(rounds, key=lambda one: one.trial)
    ]


def round_words(row: MemoryRound) -> dict[str, Any]:
    return {
        "length": row.length,
        "is_correct": row.is_correct,
        "planned": formatting.seconds(row.exposure_ms),
        "shown": formatting.seconds(row.shown_ms),
        "time": formatting.seconds(row.response_ms),
        "exposures": row.exposures,
    }


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
    return Table("Every round with its pictures", ROUNDS, rows)


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
    return Table("Events", EVENTS, rows)


def other_stages(participant: Participant) -> list[dict[str, Any]]:
    """The stages that this page has no picture of: their tasks, and the time that each answer took."""
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
        if stage.task_model and stage.task_model not in PICTURED
    ]


def evaluation_cell(item: EvaluationItem, participant: Participant) -> dict[str, Any]:
    asked, dataset = item.instructed_label, participant.study_as_joined.dataset
    return answer_words(item, participant) | {
        "number": item.item,
        "asked": "" if asked is None else dataset.class_names[asked],
        "is_passed": item.is_passed,
    }
