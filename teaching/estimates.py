"""Sentences about the belief estimate of a study's JEDI arm."""

from __future__ import annotations

from studies.models import Study
from studies.models.settings import JediEstimator


def estimate_sentence(study: Study) -> str:
    """Which estimate JEDI uses, if it is not the paper's."""
    is_papers = study.jedi_estimator == JediEstimator.PAPER
    return "" if is_papers else estimate_question(study) or "JEDI uses the regularised estimate."


def estimate_question(study: Study) -> str:
    """What is doubtful about the estimate, and the remedy; empty if some teacher uses it, or if it is the paper's."""
    if study.jedi_estimator == JediEstimator.PAPER or is_taught_by_jedi(study):
        return ""
    return (
        "The regularised estimate has no effect, because JEDI is not among the teachers: add JEDI, or choose the "
        "paper’s estimate."
    )


def is_taught_by_jedi(study: Study) -> bool:
    # The engine takes longer to load than all the rest of the server.
    from .engine.teachers.jedi import JEDI

    return JEDI.name in study.arm_names
