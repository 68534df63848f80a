"""Choosing, storing and replaying the steps of teaching."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from studies import request_notes, sessions
from studies.models import Participant, Study
from studies.seeds import generator

from . import pools
from .decay import Fit, fit_session
from .engine import Choice, EngineError, LearningRate, Shown, Teacher, make_teacher
from .engine.teachers.jedi import JEDI, Estimator
from .models import TeachingStep
from .references import references_of


def teacher_of(participant: Participant) -> Teacher:
    study = participant.study_as_joined
    return make_teacher(
        participant.arm,
        beta=participant.beta or 0.0,
        learning_rate=learning_rate_of(study),
        repeat_window=study.repeat_window,
        cold_start=study.cold_start,
        estimator=estimator_of(study, participant.arm),
    )


def estimator_of(study: Study, arm: str) -> Estimator:
    """Whence a teacher of a study has what workers believe; only JEDI's is a setting."""
    return "mended" if (arm, study.jedi_estimator) == (JEDI.name, "mended") else "paper"


def learning_rate_of(study: Study) -> LearningRate:
    """What the teachers of a study assume, and simulated workers follow."""
    return LearningRate(initial=study.effective_learning_rate, decay=study.learning_rate_decay)


def choose(participant: Participant, history: Sequence[Shown]) -> Choice:
    """The teacher's choice: a function of the study's seed, the participant and the history alone."""
    pool = pools.load(participant.study_as_joined.dataset).pool
    rng = generator(participant, "teaching", len(history) + 1)
    return teacher_of(participant).choose(pool, history, rng)


def next_step(participant: Participant, position: int, history: Sequence[Shown]) -> TeachingStep:
    """The next step, not yet written. Takes no lock and may calculate for as long as it needs."""
    started = time.perf_counter()
    choice = choose(participant, history)
    elapsed_ms = 1000 * (time.perf_counter() - started)
    study = participant.study_as_joined
    request_notes.note_choice(participant.arm, participant.study_id, elapsed_ms)
    example = sessions.example(study.dataset, pools.load(study.dataset).example_ids[choice.example])
    # Whoever was shown an image as the picture of its class has seen it.
    seen = {one.pk for one in references_of(study.dataset)} if study.shows_references else set()
    kinds = kinds_of_learners(choice)
    kind = max(kinds, key=kinds.__getitem__, default="")
    return TeachingStep(
        participant=participant,
        position=position,
        step=len(history) + 1,
        example=example,
        is_random=choice.is_cold_start,
        is_first_showing=example.pk not in seen
        and all(shown.example != choice.example for shown in history),
        probabilities=list(choice.probabilities),
        p=probability_of_second(choice),
        **{name: getattr(choice, name) for name in SCORED},
        learner_kind=kind,
        learner_kind_p=kinds.get(kind),
        choice_ms=elapsed_ms,
    )


# The numbers of a choice that a step stores under the same names.
SCORED = ("f", "score", "diversity", "usefulness", "learning_rate")


def kinds_of_learners(choice: Choice) -> dict[str, float]:
    """How probable each kind of learner was; empty for a teacher that weighs no kinds."""
    kinds: dict[str, float] = getattr(choice.explanation, "families", {})
    return kinds


# What the fit of a session leaves with its participant.
FITTED = ("beta_fitted", "beta_fitted_low", "beta_fitted_high", "beta_likelihood")


def fit(participant: Participant, history: Sequence[Shown]) -> Fit:
    """The memory decay that the answers of the teaching speak for, whatever the memory test said."""
    study = participant.study_as_joined
    return fit_session(pools.load(study.dataset).pool, history, learning_rate_of(study))


def keep_fit(participant: Participant, found: Fit) -> None:
    participant.beta_fitted = found.beta
    participant.beta_fitted_low, participant.beta_fitted_high = found.low, found.high
    participant.beta_likelihood = list(found.surface)


def fit_earlier_sessions() -> int:
    """Fits those who ended the teaching before likelihoods were kept; returns how many there were."""
    answers = TeachingStep.objects.filter(participant=OuterRef("pk"), answer__isnull=False)
    ended = Participant.objects.exclude(evaluation_started_at=None).filter(Exists(answers))
    unfitted = list(ended.filter(beta_likelihood__isnull=True).values_list("pk", flat=True))
    for pk in unfitted:
        participant = Participant.objects.with_study().select_related("version").get(pk=pk)
        history = pools.history(TeachingStep.objects.of(participant))
        # A pool that can no longer be read keeps no server from starting.
        with suppress(EngineError, OSError):
            keep_fit(participant, fit(participant, history))
            participant.save(update_fields=FITTED)
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
    def is_same_image(self) -> bool:
        return self.stored.example.pool_index == self.choice.example

    @property
    def is_same_belief(self) -> bool:
        """What the worker would answer, and which kind of learner the worker is."""
        return self.is_same_expectation and self.is_same_kind

    @property
    def is_same_expectation(self) -> bool:
        pairs = zip(self.stored.probabilities, self.choice.probabilities, strict=True)
        return all(is_same(then, now) for then, now in pairs)

    @property
    def is_same_kind(self) -> bool:
        """Whether the stored kind of learner is as probable as it was; so it is where no kind was stored."""
        kind = self.stored.learner_kind
        return not kind or is_same(self.stored.learner_kind_p or 0.0, self.kinds.get(kind, 0.0))

    @property
    def kinds(self) -> dict[str, float]:
        """How probable each kind of learner is today."""
        return kinds_of_learners(self.choice)

    @property
    def other_numbers(self) -> dict[str, tuple[float | None, float | None]]:
        """What else was stored with the step and is not what it is today, by column: then and now."""
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


def probability_of_second(choice: Choice) -> float | None:
    """P of class 1 where there are two."""
    return choice.p if len(choice.probabilities) == 2 else None


def replay(participant: Participant) -> list[ReplayedStep]:
    """Every choice of a session again, each from the history that was stored before it."""
    steps = list(TeachingStep.objects.of(participant))
    return [
        ReplayedStep(step, choose(participant, pools.history(steps[:place])))
        for place, step in enumerate(steps)
    ]
