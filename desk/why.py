"""“Why this image”: one step of teaching, explained by the teacher's belief and by its judgement of every image.

Everything is recomputed from the stored history. Nothing here is stored or shown to participants.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.utils.safestring import SafeString, mark_safe

from analysis.charts.formatting import decimal, places_for, seconds, share
from analysis.charts.svg import svg
from evaluation.models import EvaluationItem
from studies.models import Dataset, Participant
from teaching.choice import choose, history_of, load_pool, teacher_of
from teaching.engine import TEACHERS, Choice, EngineError, Explanation, Pool, Shown, Teacher
from teaching.engine.arrays import BoolArray, FloatArray
from teaching.engine.history import Past
from teaching.engine.learners.paper import error_probability
from teaching.engine.teachers.base import Interval, Judgement
from teaching.models import TeachingStep
from teaching.services import ReplayedStep
from teaching.teachers import learner_title, teacher_title

from . import why_drawings

# The number of images in the list of the best, and in the list of those left out.
LISTED = 8

Context = dict[str, Any]


# Numbers


def class_of_p(classes: int, label: int) -> int:
    """The class whose probability is shown as p: the second of two classes, otherwise the image's own."""
    return 1 if classes == 2 else label


def p_of(probabilities: Sequence[float], label: int) -> float:
    return probabilities[class_of_p(len(probabilities), label)]


@dataclass(frozen=True)
class JudgedImage:
    """One image of the pool as a teacher judged it. There is no score and no rank where the choice is random."""

    example: int
    label: int
    probabilities: tuple[float, ...]
    f: float
    score: float | None
    rank: int | None
    """Among the allowed images, from 1; for others, the rank that they would have had."""
    diversity: float | None
    usefulness: float | None
    interval: Interval | None
    """The 90 % interval of p, if the teacher has one."""
    shown_at: tuple[int, ...]
    """The earlier steps, from 1, that showed it."""

    @property
    def p(self) -> float:
        return p_of(self.probabilities, self.label)


@dataclass(frozen=True)
class Reason:
    """A teacher's choice at one step, and its judgement of the pool."""

    teacher: Teacher
    pool: Pool
    past: Past
    choice: Choice

    @property
    def judgement(self) -> Judgement:
        """Of every image, allowed or not."""
        return self.choice.judgement

    @property
    def explanation(self) -> Explanation:
        return self.judgement.explanation

    @property
    def step(self) -> int:
        return len(self.past) + 1

    @property
    def is_random(self) -> bool:
        return self.choice.is_cold_start or self.teacher.draws_at_random

    @property
    def has_parts(self) -> bool:
        """Whether the score is diversity minus usefulness."""
        return self.judgement.diversity is not None

    @cached_property
    def allowed(self) -> BoolArray:
        return np.isfinite(self.choice.scores)

    @cached_property
    def errors(self) -> FloatArray:
        """f of every image, (n,)."""
        return error_probability(self.judgement.probabilities, self.pool.labels)

    @property
    def window(self) -> int | None:
        """The repeat window in force; None if no image is ever repeated."""
        if self.teacher.never_repeats or self.choice.is_cold_start:
            return None
        window = self.teacher.repeat_window
        return self.teacher.default_window() if window is None else window

    def judged(self, example: int) -> JudgedImage:
        def entry(values: FloatArray | None) -> float | None:
            return None if values is None else float(values[example])

        label = int(self.pool.labels[example])
        p_class = class_of_p(self.pool.class_count, label)
        return JudgedImage(
            example=example,
            label=label,
            probabilities=tuple(self.judgement.probabilities[example].tolist()),
            f=float(self.errors[example]),
            score=None if self.is_random else float(self.judgement.scores[example]),
            rank=None if self.is_random else self.rank(example),
            diversity=entry(self.judgement.diversity),
            usefulness=entry(self.judgement.usefulness),
            interval=self.explanation.interval(example, of=p_class),
            shown_at=tuple(int(s) + 1 for s in np.flatnonzero(self.past.examples == example)),
        )

    def rank(self, example: int) -> int:
        return 1 + int((self.choice.scores < self.judgement.scores[example]).sum())

    def rank_in_pool(self, example: int) -> int:
        """The rank if no image had been left out."""
        return 1 + int((self.judgement.scores < self.judgement.scores[example]).sum())

    def best(self, count: int) -> list[JudgedImage]:
        """The best of the allowed images; none where the choice is random."""
        if self.is_random:
            return []
        return [self.judged(example) for example, _ in self.choice.top(count)]

    def left_out(self) -> list[JudgedImage]:
        """The images that were not allowed: the best first if the window left them out, else the newest."""
        last_shown = {int(example): s for s, example in enumerate(self.past.examples)}
        examples = np.flatnonzero(~self.allowed).tolist()
        examples.sort(key=lambda example: -last_shown.get(example, -1))
        if self.window is not None:
            examples.sort(key=lambda example: float(self.judgement.scores[example]))
        return [self.judged(example) for example in examples]


def reason_of(participant: Participant, history: Sequence[Shown]) -> Reason:
    """The choice of the participant's teacher after a history."""
    pool = load_pool(participant.study_as_joined.dataset).pool
    choice = choose(participant, history)
    return Reason(teacher_of(participant), pool, Past.read(history, pool), choice)


def with_teacher(participant: Participant, teacher: str) -> Participant:
    """A copy of the participant, with the same seed, whose arm is another teacher. Not to be saved."""
    other = copy.copy(participant)
    other.arm = teacher
    return other


def other_reasons(
    participant: Participant, history: Sequence[Shown]
) -> dict[str, Reason | EngineError]:
    """What every other teacher would choose after the same history, or why it cannot."""
    reasons: dict[str, Reason | EngineError] = {}
    for name in TEACHERS:
        if name != participant.arm:
            try:
                reasons[name] = reason_of(with_teacher(participant, name), history)
            except EngineError as error:
                reasons[name] = error
    return reasons


@dataclass(frozen=True)
class Standing:
    """The rank of a shown image when it was chosen, recomputed. No rank where the choice is random."""

    is_comparable: bool
    """false for a choice of an earlier version of the teacher"""
    matches: bool
    rank: int | None
    allowed: int
    rank_in_pool: int | None
    pool_size: int


def standings(participant: Participant) -> list[tuple[TeachingStep, Standing]]:
    """The standing of every step, each recomputed from the history stored before it."""
    steps = list(TeachingStep.objects.of(participant))
    history = history_of(steps)
    rows = []
    for index, step in enumerate(steps):
        reason = reason_of(participant, history[:index])
        shown = step.example.pool_index or 0
        replayed = ReplayedStep(step, reason.choice)
        standing = Standing(
            is_comparable=replayed.is_comparable,
            matches=replayed.matches,
            rank=None if reason.is_random else reason.rank(shown),
            allowed=int(reason.allowed.sum()),
            rank_in_pool=None if reason.is_random else reason.rank_in_pool(shown),
            pool_size=reason.pool.n,
        )
        rows.append((step, standing))
    return rows


# Content of the page


def why_context(participant: Participant, number: int) -> Context | None:
    """The page of a step; None if there is no such step."""
    steps = list(TeachingStep.objects.of(participant))
    index = next((index for index, step in enumerate(steps) if step.step == number), None)
    if index is None:
        return None
    step, dataset = steps[index], participant.study_as_joined.dataset
    context = answer_context(step, participant) | {
        "participant": participant,
        "step": step,
        "teacher": teacher_title(participant.arm),
        "dataset": dataset,
        "previous": number - 1 or None,
        "next": number + 1 if number < len(steps) else None,
        "steps": len(steps),
    }
    history = history_of(steps[:index])
    try:
        reason = reason_of(participant, history)
    except EngineError as error:
        return context | {"refusal": str(error)}
    # The cold start is the same for every teacher.
    others = {} if reason.choice.is_cold_start else other_reasons(participant, history)
    shown = step.example.pool_index or 0
    replayed = ReplayedStep(step, reason.choice)
    left_out = reason.left_out()
    listed = [*reason.best(LISTED), *left_out[:LISTED]]
    choices = [other.choice.example for other in others.values() if isinstance(other, Reason)]
    examples = {reason.choice.example, *choices, *(image.example for image in listed)}
    keys = dict(dataset.examples.filter(pool_index__in=examples).values_list("pool_index", "key"))
    images = ImageFormatter(dataset, keys, [reason.judged(shown), *listed])
    return context | {
        **decision_context(reason),
        "own": images.format(reason.judged(shown)),
        "has_interval": reason.judged(shown).interval is not None,
        "facts": reason.explanation.facts(),
        "is_replayed": reason.choice.example == shown,
        "is_comparable": replayed.is_comparable,
        "is_same_belief": replayed.is_same_belief,
        "learner": learner_title(step.learner_kind),
        "now": images.format(reason.judged(reason.choice.example)),
        "pool_size": reason.pool.n,
        "best": images.format_all(reason.best(LISTED), chosen=shown),
        "left_out": images.format_all(left_out[:LISTED]),
        "left_out_count": len(left_out),
        "window": reason.window,
        "window_rule": reason.teacher.repeat_window is None,
        "believed_accuracy": share(float(1 - reason.errors.mean()), 0),
        "others": [other_context(name, one, shown, images) for name, one in others.items()],
        **map_context(dataset, reason, shown, others),
    }


def answer_context(task: TeachingStep | EvaluationItem, participant: Participant) -> Context:
    """A classified image: its class, the answer, and the response time."""
    dataset = participant.study_as_joined.dataset
    return {
        "key": task.example.key,
        "truth": dataset.class_names[task.example.label],
        "said": "" if task.answer is None else dataset.class_names[task.answer],
        "is_correct": task.is_correct,
        "time": seconds(task.response_ms),
    }


class ImageFormatter:
    """Formats judged images. The numbers of one page share their decimals, and its bars their scale."""

    def __init__(
        self, dataset: Dataset, keys: Mapping[int | None, str], listed: Sequence[JudgedImage]
    ) -> None:
        self._class_names = dataset.class_names
        self._keys = keys
        self._colours = [row.colour for row in dataset.classes.all()]
        self._places = score_places(listed)
        self._bars = self._score_bars(listed)

    def format(self, image: JudgedImage, places: int | None = None) -> Context:
        digits = self._places if places is None else places
        is_binary = len(self._colours) == 2
        beliefs = [
            {"name": name, "colour": colour, "p": decimal(p, 2), "is_true": label == image.label}
            for label, (name, colour, p) in enumerate(
                zip(self._class_names, self._colours, image.probabilities, strict=True)
            )
        ]
        belief_bar: SafeString | str = ""
        if not is_binary:
            title = ", ".join(f"{row['name']} {row['p']}" for row in beliefs)
            bar = why_drawings.belief_bar(image.probabilities, self._colours, title)
            belief_bar = mark_safe(svg(bar))  # noqa: S308
        low_and_high = image.interval or ()
        return {
            "key": self._keys.get(image.example, ""),
            "truth": self._class_names[image.label],
            "p": decimal(image.p, 2),
            # With more than two classes, p alone is not the whole belief.
            "beliefs": [] if is_binary else beliefs,
            "belief_bar": belief_bar,
            "interval": " to ".join(decimal(limit, 2) for limit in low_and_high),
            "f": share(image.f, 0),
            "score": decimal(image.score, digits),
            "diversity": decimal(image.diversity, digits),
            "usefulness": decimal(image.usefulness, digits),
            "bars": self._bars.get(image.example, ""),
            "rank": image.rank,
            "shown_at": ", ".join(str(step) for step in image.shown_at),
        }

    def format_all(self, images: Sequence[JudgedImage], chosen: int | None = None) -> list[Context]:
        return [self.format(image) | {"is_chosen": image.example == chosen} for image in images]

    def _score_bars(self, images: Sequence[JudgedImage]) -> dict[int, SafeString]:
        """The two parts of each score, where scores have parts."""
        parts = {
            image.example: (image.diversity, image.usefulness)
            for image in images
            if image.diversity is not None and image.usefulness is not None
        }
        titles = [
            f"Diversity {decimal(diversity, self._places)}, usefulness {decimal(usefulness, self._places)}"
            for diversity, usefulness in parts.values()
        ]
        drawings = why_drawings.part_bars(list(parts.values()), titles)
        # `svg` escapes all text.
        return {one: mark_safe(svg(bar)) for one, bar in zip(parts, drawings, strict=True)}  # noqa: S308


def score_places(images: Iterable[JudgedImage]) -> int:
    return places_for(image.score for image in images if image.score is not None)


def decision_context(reason: Reason) -> Context:
    """How the choice was made, and the teacher's explanation."""
    explanation = reason.explanation
    return {
        "is_cold_start": reason.choice.is_cold_start,
        "is_by_chance": reason.is_random,
        "has_parts": reason.has_parts,
        "allowed": int(reason.allowed.sum()),
        "score_name": explanation.score_name,
        "advantage": explanation.advantage(reason.choice.score),
        "text": explanation.text,
        "baseline": explanation.baseline
        and (explanation.baseline[0], decimal(explanation.baseline[1], 2)),
    }


def other_context(
    name: str, other: Reason | EngineError, shown: int, images: ImageFormatter
) -> Context:
    """What another teacher would have chosen."""
    context: Context = {"title": teacher_title(name)}
    if isinstance(other, EngineError):
        return context | {"refusal": str(other)}
    choice = other.judged(other.choice.example)
    return context | {
        **decision_context(other),
        "is_same": choice.example == shown,
        "rank": None if other.is_random else other.rank(shown),
        "may_show": bool(other.allowed[shown]),
        "choice": images.format(choice, score_places([choice])),
    }


def map_context(
    dataset: Dataset, reason: Reason, shown: int, others: Mapping[str, Reason | EngineError]
) -> Context:
    """The map of the pool, coloured by belief, with the choices of the other teachers."""
    layout = dataset.insight.get("map")
    if not layout:
        return {"map": ""}
    titles: dict[int, list[str]] = {}
    for name, other in others.items():
        if isinstance(other, Reason) and not other.is_random:
            titles.setdefault(other.choice.example, []).append(teacher_title(name))
    labels = reason.pool.labels.tolist()
    beliefs = reason.judgement.probabilities
    painter: why_drawings.Painter
    legend: Context
    if reason.pool.class_count == 2:
        p = beliefs[:, 1].tolist()
        scale = why_drawings.Scale.for_beliefs(p)
        painter, legend = why_drawings.TwoClasses(p, labels, scale), {"shades": scale.legend()}
    else:
        classes = list(dataset.classes.all())
        colours = [row.colour for row in classes]
        painter = why_drawings.ManyClasses(beliefs.tolist(), labels, colours)
        legend = {"classes": classes}
    drawing = why_drawings.belief_map(
        layout,
        painter,
        shown=frozenset(reason.past.taught.tolist()),
        chosen=shown,
        others={example: ", ".join(names) for example, names in titles.items()},
        title=f"The teacher’s belief before step {reason.step}, image by image",
    )
    return {
        "map": mark_safe(svg(drawing)),  # noqa: S308
        "on_map": len(layout["pool_index"]),
        **legend,
        "is_on_map": shown in layout["pool_index"],
        "layout": layout.get("method"),
    }
