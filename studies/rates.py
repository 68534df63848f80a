"""The learning rate of a study, compared with the one that its data set suggests.

Features have scales of their own, so a rate that suits one data set leaves workers of another where they began, in the
teachers' model of them, or throws them from one opinion into the opposite one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .models import Study

# Warn if a rate is larger or smaller than the suggested one by more than this factor.
FACTOR = 3.0


def factor_between(rate: float, suggested: float) -> float:
    """The ratio of the larger to the smaller."""
    return max(rate / suggested, suggested / rate)


def is_questionable(study: Study) -> bool:
    rate, suggested = study.effective_learning_rate, study.dataset.learning_rate
    return factor_between(rate, suggested) > FACTOR


def rate_words(rate: float, suggested: float) -> str:
    """The rate, and whether it is the data set's own."""
    if rate == suggested:
        return f"η₀ = {in_digits(rate)}, as the data set suggests"
    return f"η₀ = {in_digits(rate)}, where the data set suggests {in_digits(suggested)}"


def rate_sentence(study: Study) -> str:
    words = rate_words(study.effective_learning_rate, study.dataset.learning_rate)
    return f"Teachers assume the learning rate {words}."


def rate_question(study: Study) -> str:
    """What is doubtful about the rate, and the remedy; empty if it is near enough to the suggested one."""
    if not is_questionable(study):
        return ""
    rate, suggested = study.effective_learning_rate, study.dataset.learning_rate
    times = f"{factor_between(rate, suggested):.3g} times"
    compared, effect = (
        (f"{times} smaller than", "nobody learned anything")
        if rate < suggested
        else (f"{times} as large as", "every image overturned all that came before")
    )
    return (
        f"The learning rate η₀ = {in_digits(rate)} is {compared} the {in_digits(suggested)} that the data set "
        f"suggests for its features. Teachers who follow a worker’s progress will choose as if {effect}, and simulated "
        "workers will learn that way. Clear the field to follow the data set."
    )


def in_digits(rate: float) -> str:
    """Three digits are more than its precision."""
    return f"{rate:.3g}"
