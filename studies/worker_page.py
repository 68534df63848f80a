"""What participants read on the first and the last page, by the study's settings."""

from __future__ import annotations

from dataclasses import dataclass

from . import stages
from .classes import PEOPLE
from .models import Participant, Study
from .models.settings import ScoreTold
from .stages import Json
from .summary import count_range

# Fewer would tell a worker more about chance than about others.
MIN_TO_COMPARE = 10


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
        return "Everyone who finishes is paid double."
    return f"The best {100 * study.bonus_share:.3g} % in the test are paid double."


def pictures_of(study: Study) -> dict[str, str]:
    """How many pictures the stages that show images have, such as “20–40 pictures”, by the stage's name."""
    showing = [stage for stage in stages.flow() if stage.unit == "image"]
    return {stage.name: count_range(stage.lengths(study), "picture") for stage in showing}


def bonus_news(participant: Participant) -> str | None:
    """What happens about the bonus, for the last page."""
    study = participant.study_as_joined
    words = bonus_words(study)
    if not words or not study.explains_bonus:
        return None
    return f"{words} We will know once everyone has finished. You don’t need to do anything."


def has_score(participant: Participant) -> bool:
    """Whether this worker is told a score, now or later."""
    return participant.study_as_joined.shows_score and participant.evaluation_accuracy is not None


def tells_scores(participant: Participant) -> bool:
    """Whether the participant may see the score now.

    Scores, pooled, reveal the labels of the evaluation images, however they are rounded. So nobody sees one while
    anybody can still use the labels: in this study, or in another one with a version of the same data set.
    """
    study, dataset = participant.study, participant.study_as_joined.dataset
    if study.score_told == ScoreTold.AT_ONCE:
        return True
    if study.state != Study.State.CLOSED or has_people_under_way(study):
        return False
    others = Study.objects.filter(dataset__name=dataset.name).exclude(pk=study.pk)
    finished = (Study.State.DRAFT, Study.State.CLOSED)
    return not any(other.state not in finished or has_people_under_way(other) for other in others)


def has_people_under_way(study: Study) -> bool:
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
    if count < MIN_TO_COMPARE:
        return None
    below = scored.filter(evaluation_accuracy__lt=participant.evaluation_accuracy).count()
    return {"others": count, "below": below}
