"""What the page “why this image” shows: one step of teaching, explained by its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from analysis.charts.formatting import decimal, places_for, share
from analysis.charts.svg import svg
from desk.participants.content import answer_words
from studies.models import Dataset, Participant
from teaching.choice import history_of
from teaching.engine import EngineError
from teaching.engine.teachers.base import Interval
from teaching.models import TeachingStep
from teaching.services import ReplayedStep
from teaching.teachers import teacher_title

from . import drawings as why_drawings
from .explanation import JudgedImage, Reason, other_reasons, reason_of

# Images in the list of the best, and in the list of those left out.
SHOWN = 8

Named = dict[str, Any]
Others = Mapping[str, Reason | EngineError]


def why_page(participant: Participant, number: int) -> Named | None:
    """The page of a step; None if there is no such step."""
    steps = list(TeachingStep.objects.of(participant))
    step = next((step for step in steps if step.step == number), None)
    if step is None:
        return None
    frame = answer_words(step, participant) | {
        "participant": participant,
        "step": step,
        "teacher": teacher_title(participant.arm),
        "dataset": participant.study_as_joined.dataset,
        "previous": number - 1 or None,
        "next": number + 1 if number < len(steps) else None,
        "steps": len(steps),
    }
    before = history_of(steps[: steps.index(step)])
    try:
        reason = reason_of(participant, before)
    except EngineError as refusal:
        return frame | {"refusal": str(refusal)}
    # The cold start is the same for every teacher.
    others = {} if reason.choice.is_cold_start else other_reasons(participant, before)
    return frame | explanation(participant.study_as_joined.dataset, step, reason, others)


def explanation(dataset: Dataset, step: TeachingStep, reason: Reason, others: Others) -> Named:
    shown = step.example.pool_index or 0
    own = reason.judged(shown)
    left_out = reason.left_out()
    listed = [*reason.best(SHOWN), *left_out[:SHOWN]]
    choices = [one.choice.example for one in others.values() if isinstance(one, Reason)]
    keys = keys_of(dataset, [reason.choice.example, *choices, *(one.example for one in listed)])
    words = Words(dataset, keys, listed=[own, *listed])
    return {
        **decision_words(reason),
        "own": words.of(own),
        "has_interval": own.interval is not None,
        "facts": reason.explanation.facts(),
        "is_replayed": reason.choice.example == shown,
        "is_same_belief": ReplayedStep(step, reason.choice).is_same_belief,
        "now": words.of(reason.judged(reason.choice.example)),
        "pool_size": reason.pool.n,
        "best": words.all(reason.best(SHOWN), chosen=shown),
        "left_out": words.all(left_out[:SHOWN]),
        "left_out_count": len(left_out),
        "window": reason.window,
        "window_rule": reason.teacher.repeat_window is None,
        "believed_accuracy": share(reason.believed_accuracy, 0),
        "others": [other_words(name, one, shown, words) for name, one in others.items()],
        **map_words(dataset, reason, shown, others),
    }


def keys_of(dataset: Dataset, examples: Iterable[int]) -> dict[int | None, str]:
    rows = dataset.examples.filter(pool_index__in=set(examples))
    return dict(rows.values_list("pool_index", "key"))


class Words:
    """JudgedImages as the page writes them: the numbers of one page share their decimals, its bars their scale."""

    def __init__(
        self, dataset: Dataset, keys: Mapping[int | None, str], listed: Sequence[JudgedImage]
    ) -> None:
        self._dataset = dataset
        self._keys = keys
        self._colours = [row.colour for row in dataset.classes.all()]
        self._places = places_of(listed)
        self._bars = bars(listed, self._places)

    def of(self, one: JudgedImage, places: int | None = None) -> Named:
        digits = self._places if places is None else places
        return {
            "key": self._keys.get(one.example, ""),
            "truth": self._dataset.class_names[one.label],
            "p": decimal(one.p, 2),
            "beliefs": self._beliefs(one),
            "belief_bar": self._belief_bar(one),
            "interval": interval_words(one.interval),
            "f": share(one.f, 0),
            "score": decimal(one.score, digits),
            "diversity": decimal(one.diversity, digits),
            "usefulness": decimal(one.usefulness, digits),
            "bars": self._bars.get(one.example, ""),
            "rank": one.rank,
            "shown_at": ", ".join(str(step) for step in one.shown_at),
        }

    def _beliefs(self, one: JudgedImage) -> list[Named]:
        """What each class was given, where there are more than two."""
        rows = zip(self._dataset.class_names, self._colours, one.probabilities, strict=True)
        if len(self._colours) == 2:
            return []
        return [
            {"name": name, "colour": colour, "p": decimal(p, 2), "is_true": label == one.label}
            for label, (name, colour, p) in enumerate(rows)
        ]

    def _belief_bar(self, one: JudgedImage) -> SafeString | str:
        if len(self._colours) == 2:
            return ""
        title = ", ".join(f"{row['name']} {row['p']}" for row in self._beliefs(one))
        bar = why_drawings.belief_bar(one.probabilities, self._colours, title)
        return mark_safe(svg(bar))  # noqa: S308

    def all(self, candidates: Sequence[JudgedImage], chosen: int | None = None) -> list[Named]:
        return [self.of(one) | {"is_chosen": one.example == chosen} for one in candidates]


def bars(listed: Sequence[JudgedImage], places: int) -> dict[int, SafeString]:
    """The two parts of each score, where scores have parts."""
    parts = {
        one.example: (one.diversity, one.usefulness)
        for one in listed
        if one.diversity is not None and one.usefulness is not None
    }
    titles = [
        f"Diversity {decimal(diversity, places)}, usefulness {decimal(usefulness, places)}"
        for diversity, usefulness in parts.values()
    ]
    drawings = why_drawings.part_bars(list(parts.values()), titles)
    # Shapes and numbers of our own making, escaped where they are drawn.
    return {one: mark_safe(svg(bar)) for one, bar in zip(parts, drawings, strict=True)}  # noqa: S308


def places_of(candidates: Iterable[JudgedImage]) -> int:
    return places_for(one.score for one in candidates if one.score is not None)


def interval_words(interval: Interval | None) -> str:
    return " to ".join(decimal(limit, 2) for limit in interval) if interval else ""


def decision_words(reason: Reason) -> Named:
    """What decided, and what the teacher says about it."""
    words = reason.explanation
    return {
        "is_cold_start": reason.choice.is_cold_start,
        "is_by_chance": reason.is_by_chance,
        "has_parts": reason.has_parts,
        "allowed": int(reason.allowed.sum()),
        "score_name": words.score_name,
        "advantage": words.advantage(reason.choice.score),
        "text": words.text,
        "baseline": words.baseline and (words.baseline[0], decimal(words.baseline[1], 2)),
    }


def other_words(name: str, one: Reason | EngineError, shown: int, words: Words) -> Named:
    frame = {"title": teacher_title(name)}
    if isinstance(one, EngineError):
        return frame | {"refusal": str(one)}
    candidate = one.judged(one.choice.example)
    return frame | {
        **decision_words(one),
        "is_same": candidate.example == shown,
        "rank": None if one.is_by_chance else one.rank(shown),
        "may_show": bool(one.allowed[shown]),
        "choice": words.of(candidate, places_of([candidate])),
    }


def map_words(dataset: Dataset, reason: Reason, shown: int, others: Others) -> Named:
    layout = dataset.insight.get("map")
    if not layout:
        return {"map": ""}
    named: dict[int, list[str]] = {}
    for name, one in others.items():
        if isinstance(one, Reason) and not one.is_by_chance:
            named.setdefault(one.choice.example, []).append(teacher_title(name))
    painter, legend = painter_of(dataset, reason)
    drawing = why_drawings.belief_map(
        layout,
        painter,
        shown=frozenset(reason.past.taught.tolist()),
        chosen=shown,
        others={example: ", ".join(names) for example, names in named.items()},
        title=f"What the teacher believed before step {reason.step}, image by image",
    )
    return {
        "map": mark_safe(svg(drawing)),  # noqa: S308
        "on_map": len(layout["pool_index"]),
        **legend,
        "is_on_map": shown in layout["pool_index"],
        "layout": layout.get("method"),
    }


def painter_of(dataset: Dataset, reason: Reason) -> tuple[why_drawings.Painter, Named]:
    """How the map shows what was believed, and its legend."""
    labels = reason.pool.labels.tolist()
    if reason.pool.class_count == 2:
        p = reason.judgement.probabilities[:, 1].tolist()
        scale = why_drawings.Scale.for_beliefs(p)
        return why_drawings.TwoClasses(p, labels, scale), {"shades": scale.legend()}
    classes = list(dataset.classes.all())
    beliefs = reason.judgement.probabilities.tolist()
    colours = [one.colour for one in classes]
    return why_drawings.ManyClasses(beliefs, labels, colours), {"classes": classes}
