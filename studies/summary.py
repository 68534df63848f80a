"""What a study asks of a worker, in words and minutes. Pure: a study's settings in, sentences out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .models import Study

# The rule behind the minutes, in seconds. RULE says it in words.
READING = 120
# The results assumed for a worker who has not been measured: in the rule, and in previews.
TYPICAL_SPAN = 5
TYPICAL_ACCURACY = 0.8
BETWEEN_ROUNDS = 3
PUTTING_BACK, PUTTING_BACK_EACH = 3, 1.5
ANSWERING = 3.5
LOOKING = 3.5
REFERENCE = 4

RULE = (
    f"The minutes are an estimate: {READING // 60} minutes of reading; memory trials in which "
    f"{TYPICAL_SPAN} pictures are restored and the next round fails, each round with its display, "
    f"{PUTTING_BACK} s plus {PUTTING_BACK_EACH:g} s for each picture to put back and {BETWEEN_ROUNDS} s of pause; "
    f"{ANSWERING:g} s for each answer, and {LOOKING:g} s for each feedback, or the minimum feedback time if "
    f"that is longer; {REFERENCE} s for each reference picture; halfway between the smallest and the largest number of "
    "teaching images. A pilot tells you more."
)


@dataclass(frozen=True)
class Summary:
    """The sentence that a study's page shows, and what follows for what workers are told and paid."""

    sentence: str
    minutes: int
    advice: str


def summarise(study: Study, teaching_lengths: Collection[int]) -> Summary:
    """`teaching_lengths`: every number of images that one of the study's teachers may show."""
    minutes = round(seconds(study, teaching_lengths) / 60)
    parts = [
        memory_words(study), count_range(teaching_lengths, "teaching image"), evaluation_words(study),
    ]  # fmt: skip
    sentence = f"Each worker sees {parts[0]}, {parts[1]} and {parts[2]}, about {counted(minutes, 'minute')}."
    return Summary(
        sentence, minutes, " ".join([told_words(study, minutes), pay_words(study, minutes)]).strip()
    )


def memory_words(study: Study) -> str:
    rounds = study.memory_trials * (study.memory_max_length - study.memory_min_length + 1)
    return f"up to {counted(rounds, 'memory round')}"


def count_range(counts: Collection[int], thing: str) -> str:
    """Such as “30 images” or “20–40 images”."""
    low, high = min(counts), max(counts)
    return counted(high, thing) if low == high else f"{low}–{high} {thing}s"


def evaluation_words(study: Study) -> str:
    images = counted(study.evaluation_size, "evaluation image")
    checks = study.attention_checks
    return f"{images} with {counted(checks, 'attention check')} among them" if checks else images


def told_words(study: Study, minutes: int) -> str:
    told = f"Workers are told {counted(study.minutes, 'minute')}"
    return f"{told}, {misfit(study.minutes, minutes) or 'which fits'}."


def misfit(told: int, minutes: float) -> str:
    """What is wrong with the minutes that workers are told; empty if they fit: a fifth more is no trouble."""
    if minutes > max(1.2 * told, told + 1):
        return "which is too short: they may feel misled, or run out of time"
    if minutes < 0.6 * told:
        return "which is more than they are likely to need"
    return ""


def pay_words(study: Study, minutes: int) -> str:
    if study.reward is None or not minutes:
        return ""
    hourly = float(study.reward) * 60 / minutes
    return f"{study.reward:.2f} {study.currency} for it is about {hourly:.2f} {study.currency} an hour."


def seconds(study: Study, teaching_lengths: Collection[int]) -> float:
    """How long a typical worker takes, by the rule in RULE."""
    images = (min(teaching_lengths) + max(teaching_lengths)) / 2
    evaluation = study.evaluation_size + study.attention_checks
    modules = (
        memory_seconds(study) + teaching_seconds(study, images) + evaluation_seconds(evaluation)
    )
    return READING + modules


def teaching_seconds(study: Study, images: float) -> float:
    pictures = len(study.dataset.class_names) if study.shows_references else 0
    looking = max(LOOKING, study.min_look_ms / 1000)
    return pictures * REFERENCE + images * (ANSWERING + looking)


def evaluation_seconds(images: float) -> float:
    return images * ANSWERING


def memory_seconds(study: Study) -> float:
    last = min(max(TYPICAL_SPAN + 1, study.memory_min_length), study.memory_max_length)
    trial = sum(round_seconds(study, n) for n in range(study.memory_min_length, last + 1))
    practice = round_seconds(study, study.memory_min_length) if study.memory_practice else 0
    return study.memory_trials * trial + practice


def round_seconds(study: Study, length: int) -> float:
    display = length + study.memory_extra_seconds
    return display + recall_seconds(length)


def recall_seconds(length: int) -> float:
    """A memory round without its display."""
    return PUTTING_BACK + PUTTING_BACK_EACH * length + BETWEEN_ROUNDS


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
