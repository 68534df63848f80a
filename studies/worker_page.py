"""What the worker's page shows beside the tasks, as the study's settings want it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from . import stages
from .classes import PEOPLE
from .models import Participant, Study
from .models.settings import ScoreTold
from .stages import Json

# Fewer would tell a worker more about chance than about others.
LEAST_TO_COMPARE = 10


def page_of(participant: Participant, progress: Sequence[Json]) -> Json:
    """For the page's head, its keys and its breaks. `progress` has the counted stages with what is done of each."""
    study = participant.study_as_joined
    return {
        "answer_keys": study.answer_keys,
        "minutes_left": minutes_left(participant, progress) if study.shows_minutes_left else None,
        "shows_effort": study.shows_effort,
        "offers_breaks": study.offers_breaks,
    }


def minutes_left(participant: Participant, progress: Sequence[Json]) -> int:
    """Of the minutes that workers are told, as many as a typical worker still needs."""
    whole = rest = 0.0
    for row in progress:
        seconds = stages.named(row["name"]).expected_seconds(participant)
        whole += seconds
        rest += seconds * (1 - share_done(row))
    return math.ceil(participant.study_as_joined.minutes * rest / whole) if whole else 0


def share_done(row: Json) -> float:
    return min(1.0, (row["done"] + row["part"]) / row["total"]) if row["total"] else 0.0


@dataclass(frozen=True)
class Offer:
    """What a worker is told on the first page."""

    pay: str
    bonus: str
    contact: str


def offer_of(study: Study) -> Offer | None:
    if not study.shows_offer:
        return None
    return Offer(pay=pay_words(study), bonus=bonus_words(study), contact=study.contact)


def pay_words(study: Study) -> str:
    return f"{study.reward:.2f} {study.currency}" if study.reward else ""


def bonus_words(study: Study) -> str:
    """The rule of the bonus; empty where there is none."""
    if not study.reward or not study.bonus_share:
        return ""
    if study.bonus_share >= 1:
        return "Everybody who finishes is paid double."
    return f"The best {100 * study.bonus_share:.3g} % in the test are paid double."


def pictures_of(study: Study) -> dict[str, str]:
    """How many pictures each stage shows, by the stage's name."""
    return {stage.name: stage.in_numbers(study) for stage in stages.flow()}


def bonus_news(participant: Participant) -> str | None:
    """What happens about the bonus, for the last page."""
    study = participant.study_as_joined
    words = bonus_words(study)
    if not words or not study.explains_bonus:
        return None
    return f"{words} Who they are is known when everybody has finished; you need not do anything for it."


def has_score(participant: Participant) -> bool:
    """Whether this worker is told a score, now or later."""
    return participant.study_as_joined.shows_score and participant.evaluation_accuracy is not None


def tells_scores(study: Study) -> bool:
    """Whether scores may be told now. Together they give the evaluation's labels away, however they are rounded, so
    nobody learns anything of them as long as anybody can still use the labels."""
    if study.score_told == ScoreTold.AT_ONCE:
        return True
    return study.state == Study.State.CLOSED and not _is_anybody_under_way(study)


def _is_anybody_under_way(study: Study) -> bool:
    people = study.participants.filter(purpose__in=PEOPLE).under_way()
    return people.filter(last_seen_at__gte=study.cutoff).exists()


def comparison(participant: Participant) -> Json | None:
    """How many of the others who finished did less well; None where the study or their number does not allow it."""
    study = participant.study_as_joined
    if not study.shows_comparison or participant.evaluation_accuracy is None:
        return None
    others = participant.study.participants.counted().completed().exclude(pk=participant.pk)
    scored = others.filter(evaluation_accuracy__isnull=False)
    count = scored.count()
    if count < LEAST_TO_COMPARE:
        return None
    below = scored.filter(evaluation_accuracy__lt=participant.evaluation_accuracy).count()
    return {"others": count, "below": below}
