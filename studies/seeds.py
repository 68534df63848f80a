"""Random draws that can be repeated: each follows from the study, the participant, a purpose and a number."""

import zlib

import numpy as np

from .models import Participant


def generator(participant: Participant, purpose: str, number: int) -> np.random.Generator:
    """A fresh generator for one draw; no draw depends on how many came before it."""
    purpose_number = zlib.crc32(purpose.encode())
    return np.random.default_rng(
        [participant.study_as_joined.seed, participant.seed, purpose_number, number]
    )
