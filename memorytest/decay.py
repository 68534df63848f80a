"""The memory decay β of a participant, by the mapping of the study, with the numbers that it was computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from studies.models import BetaMapping, Participant, Study, StudyVersion

from .scoring import memory_decay, memory_span
from .shrinkage import PeopleByLengths, estimate_shrinkage

# The settings of the test itself: spans compare between people for whom these were the same.
OF_THE_TEST = (
    "memory_trials", "memory_min_length", "memory_max_length", "memory_extra_seconds", "memory_practice",
)  # fmt: skip


@dataclass(frozen=True)
class Decay:
    """β, its mapping and, if it was shrunk, the numbers used for that."""

    beta: float
    mapping: str
    inputs: dict[str, Any] = field(default_factory=dict)


def decay_of(study: Study, lengths: Sequence[int], others: PeopleByLengths) -> Decay:
    """β for the memory lengths of a person's trials. `others` count only where the study shrinks."""
    if study.beta_mapping == BetaMapping.FIXED:
        return Decay(study.fixed_beta or 0.0, BetaMapping.FIXED)
    span = memory_span(lengths)
    if study.beta_mapping == BetaMapping.PAPER:
        return Decay(memory_decay(span), BetaMapping.PAPER)
    shrinkage = estimate_shrinkage(others, len(lengths))
    shrunken = shrinkage.shrunken(span)
    inputs = {
        "people": shrinkage.people,
        "mean": shrinkage.mean,
        "within": shrinkage.within,
        "between": shrinkage.between,
        "weight": shrinkage.weight,
        "shrunken_span": shrunken,
    }
    return Decay(memory_decay(shrunken), BetaMapping.SHRUNKEN, inputs)


def decay_sentence(study: Study) -> str:
    """How β is computed, if not as in the paper."""
    sentences = {
        BetaMapping.SHRUNKEN: "The memory decay β comes from n̄, moved towards the mean of earlier people.",
        BetaMapping.FIXED: f"The memory decay β is {study.fixed_beta} for every worker.",
    }
    return sentences.get(BetaMapping(study.beta_mapping), "")


def measure(
    participant: Participant, lengths: list[int], others: PeopleByLengths | None = None
) -> dict[str, Any]:
    """The results of the memory test, as columns of the participant."""
    study = participant.study_as_joined
    if others is None:
        is_shrunken = study.beta_mapping == BetaMapping.SHRUNKEN
        others = people_before(participant) if is_shrunken else {}
    decay = decay_of(study, lengths, others)
    return {
        "memory_lengths": lengths,
        "memory_span": memory_span(lengths),
        "beta": decay.beta,
        "beta_mapping": decay.mapping,
        "beta_inputs": decay.inputs,
    }


def people_before(participant: Participant) -> PeopleByLengths:
    """Those who have ended the same memory test in this study for the same purpose, and still count."""
    alike = Participant.objects.counted(participant.purpose).filter(
        study=participant.study_id, version__in=same_test(participant), memory_span__isnull=False
    )
    others = alike.exclude(pk=participant.pk).exclude(stage=Participant.Stage.WITHDRAWN)
    # Grouped by the database: one row per distinct result instead of one per participant.
    rows = others.order_by().values_list("memory_lengths").annotate(n=Count("pk"))
    return {tuple(lengths): count for lengths, count in rows}


def same_test(participant: Participant) -> list[int]:
    """The versions of the study whose memory test is the participant's."""
    own = [getattr(participant.study_as_joined, name) for name in OF_THE_TEST]
    versions = StudyVersion.objects.filter(study=participant.study_id)
    settings = {version.pk: Study.settings_of(version) for version in versions}
    return [pk for pk, then in settings.items() if [then[name] for name in OF_THE_TEST] == own]
