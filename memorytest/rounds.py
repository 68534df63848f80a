"""The rounds of a session as the rest of the memory test reads and shows them."""

from __future__ import annotations

from studies import sessions
from studies.image_addresses import address_of
from studies.models import Participant, Study
from studies.stages import Current, Json

from .models import MemoryRound


def round_at(participant: Participant, position: int) -> MemoryRound:
    """Raises DoesNotExist if there is none."""
    [this] = sessions.rows_of(MemoryRound, participant, position, position)
    return this


def current_of(participant: Participant, this: MemoryRound) -> Current:
    done, part = max(this.trial - 1, 0), part_of_trial(participant.study_as_joined, this)
    return Current(describe(participant, this), done=done, part=part)


def part_of_trial(study: Study, this: MemoryRound) -> float:
    """How far a trial is, from 0 to 1, as if it went on to its longest round."""
    if this.is_practice or not study.shows_round_progress:
        return 0.0
    lengths = study.memory_max_length - study.memory_min_length + 1
    return (this.length - study.memory_min_length) / lengths


def describe(participant: Participant, this: MemoryRound) -> Json:
    """The round as the browser may see it: never in the true order."""
    return {
        "kind": "memory",
        "position": this.position,
        "phase": "recall" if this.exposed_at else "ready",
        "is_reported": this.reported_at is not None,
        "trial": this.trial,
        "trials": participant.study_as_joined.memory_trials,
        "is_practice": this.is_practice,
        "length": this.length,
        "longest": participant.study_as_joined.memory_max_length,
        "exposure_ms": this.exposure_ms,
        "images": [
            {
                "id": name,
                "url": address_of(participant, name),
                "alt": name.replace("-", " "),
            }
            for name in this.shuffled
        ],
    }
