"""Checks of how many take part, and what difference between teachers that many can show."""

from __future__ import annotations

from functools import lru_cache

from rehearsal.models import Rehearsal
from studies.models import Outcome, Study

from .facts import StudyFacts
from .finding import Finding, fine, note, question

LEVEL = 0.05
# In standard deviations. A study that misses larger differences than these misses nearly everything.
LARGE = 0.8
# What simulated workers call the outcomes.
SIMULATED = {Outcome.GAIN: "gain", Outcome.EVALUATION: "evaluation"}


def target(facts: StudyFacts) -> Finding:
    study, wanted = facts.study, facts.study.target_per_arm
    if wanted is None:
        return note(
            "No number of workers per teacher is set: decide it before you see results. The rehearsal says how many "
            "a difference takes.",
            facts.setting("target_per_arm", "Wanted per teacher"),
        )
    needed = wanted * len(study.arm_names)
    if study.max_participants is not None and study.max_participants < needed:
        return question(
            f"{study.max_participants} places are too few for {wanted} workers with each of {len(study.arm_names)} "
            f"teachers, which takes {needed}.",
            facts.setting("max_participants", "Places"),
        )
    return power_at(facts, wanted)


def power_at(facts: StudyFacts, wanted: int) -> Finding:
    comparisons = len(facts.study.arm_names) - 1
    if comparisons < 1:
        return fine(f"{wanted} workers are wanted; with one teacher there is nothing to compare.")
    effect = detectable(wanted, LEVEL / comparisons)
    link = facts.page("rehearsal", "How many workers", "#power")
    if effect is None:
        return question(f"{wanted} for each teacher are too few for any test.", link)
    sentence = power_words(facts.study, wanted, effect, comparisons)
    if effect > LARGE:
        return question(f"{sentence} Smaller differences will probably be missed.", link)
    return fine(sentence)


def power_words(study: Study, wanted: int, effect: float, comparisons: int) -> str:
    outcome = Outcome(study.primary_outcome)
    spread = simulated_spread(study, outcome)
    points = f", about {100 * effect * spread:.0f} points by the forecast," if spread else ""
    level = (
        f"at the 5 % level divided by {comparisons} comparisons"
        if comparisons > 1
        else "at the 5 % level"
    )
    return (
        f"With {wanted} for each teacher, a difference in {outcome.heading.lower()} of {effect:.2f} standard "
        f"deviations{points} is found 8 times out of 10 ({level})."
    )


@lru_cache(maxsize=256)
def detectable(n: int, level: float) -> float | None:
    # Statistics take a moment to load, which a server should not wait for when it starts.
    from analysis.stats.power import detectable_effect

    return detectable_effect(n, level)


def simulated_spread(study: Study, outcome: Outcome) -> float | None:
    """The standard deviation within teachers among simulated workers; None without a forecast."""
    forecast = Rehearsal.forecasts_of(study).values_list("pk", flat=True).first()
    return None if forecast is None else spread_of(forecast, SIMULATED[outcome])


@lru_cache(maxsize=64)
def spread_of(forecast: int, column: str) -> float | None:
    """A forecast that is done does not change, and its rows are many."""
    from analysis.stats import known
    from analysis.stats.power import pooled_sd

    results = Rehearsal.objects.values_list("results", flat=True).get(pk=forecast)
    return pooled_sd([known(row[column] for row in rows) for rows in results.values()])
