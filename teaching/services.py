"""Replaying the choices of a session, and fitting the memory decay to its answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from studies.models import Participant

from .choice import (
    SCORED,
    choose,
    history_of,
    learner_kinds,
    learning_rate_of,
    load_pool,
    probability_of_second,
)
from .decay import fit_session
from .engine import Choice, EngineError, Shown
from .models import TeachingStep

# The participant's columns that the fit of a session fills.
FITTED = ("beta_fitted", "beta_fitted_low", "beta_fitted_high", "beta_likelihood")


def fit_memory_decay(participant: Participant, history: Sequence[Shown]) -> dict[str, Any]:
    """The memory decay that fits the answers of the teaching, as the participant's columns."""
    study = participant.study_as_joined
    fit = fit_session(load_pool(study.dataset).pool, history, learning_rate_of(study))
    return dict(zip(FITTED, (fit.beta, fit.low, fit.high, list(fit.surface)), strict=True))


def fit_earlier_sessions() -> int:
    """Fit those who ended the teaching before likelihoods were stored; return how many there were."""
    answers = TeachingStep.objects.filter(participant=OuterRef("pk"), answer__isnull=False)
    ended = Participant.objects.exclude(evaluation_started_at=None).filter(Exists(answers))
    unfitted = list(ended.filter(beta_likelihood__isnull=True).values_list("pk", flat=True))
    for pk in unfitted:
        participant = Participant.objects.with_study().select_related("version").get(pk=pk)
        history = history_of(TeachingStep.objects.of(participant))
        # A pool that cannot be read any more does not keep the server from starting.
        with suppress(EngineError, OSError):
            columns = fit_memory_decay(participant, history)
            Participant.objects.filter(pk=pk).update(**columns)
    return len(unfitted)


@dataclass(frozen=True)
class ReplayedStep:
    """A stored choice beside the one that the stored history gives today."""

    stored: TeachingStep
    choice: Choice

    @property
    def matches(self) -> bool:
        return self.is_same_image and self.is_same_belief and not self.other_numbers

    @property
    def is_comparable(self) -> bool:
        """Whether the choice was made by the version of the teacher that this software has."""
        return self.stored.teacher_version == self.choice.teacher_version

    @property
    def is_same_image(self) -> bool:
        return self.stored.example.pool_index == self.choice.example

    @property
    def is_same_belief(self) -> bool:
        """What the participant would answer, and which kind of learner the participant is."""
        return self.is_same_expectation and self.is_same_kind

    @property
    def is_same_expectation(self) -> bool:
        pairs = zip(self.stored.probabilities, self.choice.probabilities, strict=True)
        return all(is_same(then, now) for then, now in pairs)

    @property
    def is_same_kind(self) -> bool:
        """Whether the stored kind of learner is as probable as it was; true if none was stored."""
        kind = self.stored.learner_kind
        return not kind or is_same(self.stored.learner_kind_p or 0.0, self.kinds.get(kind, 0.0))

    @property
    def kinds(self) -> dict[str, float]:
        """How probable each kind of learner is today."""
        return learner_kinds(self.choice)

    @property
    def other_numbers(self) -> dict[str, tuple[float | None, float | None]]:
        """The other stored numbers that differ today, by column: then and now."""
        choice = self.choice
        today = {"p": probability_of_second(choice)} | {
            name: getattr(choice, name) for name in SCORED
        }
        pairs = {name: (getattr(self.stored, name), now) for name, now in today.items()}
        return {name: pair for name, pair in pairs.items() if not is_same(*pair)}


def is_same(then: float | None, now: float | None) -> bool:
    """The same machine gives the same bits; another BLAS may differ in the last ones."""
    if then is None or now is None:
        return then is now
    return abs(then - now) <= 1e-9 * max(1.0, abs(now))


def replay(participant: Participant) -> list[ReplayedStep]:
    """Every choice of a session again, each from the history that was stored before it."""
    steps = list(TeachingStep.objects.of(participant))
    return [
        ReplayedStep(step, choose(participant, history_of(steps[:place])))
        for place, step in enumerate(steps)
    ]
