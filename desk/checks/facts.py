"""What the checks ask about a study, each question answered once, and the places where things are mended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from statistics import median

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from desk.base.pages import address
from studies.classes import PEOPLE
from studies.models import Participant, Study
from studies.models.settings import ScoreTold
from studies.summary import summarise
from studies.version_groups import VersionChoice, choose_versions
from teaching.assignment import teaching_lengths

from .finding import Link

Purpose = Participant.Purpose
REFERENCES = [field.name for field in Study._meta.concrete_fields if field.is_relation]


@dataclass(frozen=True)
class SessionTimes:
    """How long finished sessions took, in seconds from consent to the end. Not empty."""

    seconds: tuple[float, ...]
    who: str

    @property
    def n(self) -> int:
        return len(self.seconds)

    @property
    def median(self) -> timedelta:
        return timedelta(seconds=median(self.seconds))

    def below(self, seconds: float) -> int:
        return sum(one < seconds for one in self.seconds)


def session_times(study: Study, purpose: str, who: str = "people") -> SessionTimes | None:
    """Of those who finished and count; None if nobody has."""
    people = study.participants.counted(purpose).completed()
    times = people.order_by().values_list("consented_at", "finished_at")
    seconds = tuple((end - start).total_seconds() for start, end in times if start and end)
    return SessionTimes(seconds, who) if seconds else None


class StudyFacts:
    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def problems(self) -> list[str]:
        """What keeps the study from running: settings that do not fit together or do not suit the data set."""
        try:
            # What it refers to, and that its link name is its own, the database guards.
            self.study.full_clean(exclude=REFERENCES, validate_unique=False)
        except ValidationError as error:
            return error.messages
        return []

    @cached_property
    def estimated_minutes(self) -> int | None:
        """None while the settings have problems."""
        if self.problems:
            return None
        return summarise(self.study, teaching_lengths(self.study)).minutes

    @cached_property
    def times(self) -> SessionTimes | None:
        """Of people who count, or, before anybody does, of pilots."""
        live = session_times(self.study, Purpose.LIVE)
        return live or session_times(self.study, Purpose.PILOT, "pilots")

    @cached_property
    def versions(self) -> VersionChoice:
        return choose_versions(self.study, self.study.participants.live())

    @cached_property
    def under_way_elsewhere(self) -> dict[int, int]:
        """How many are in the middle of a session of an earlier version, by its number."""
        here = (
            self.study.participants.live().under_way().filter(last_seen_at__gte=self.study.cutoff)
        )
        earlier = here.exclude(version=self.study.current_version_id)
        numbers = list(earlier.order_by().values_list("version__number", flat=True))
        return {number: numbers.count(number) for number in sorted(set(numbers))}

    @cached_property
    def studies_that_told_scores(self) -> list[str]:
        """The titles of other studies whose scores tell something about the same evaluation images."""
        others = Study.objects.filter(dataset=self.study.dataset_id, shows_score=True)
        others = others.exclude(pk=self.study.pk).filter(
            Q(score_told=ScoreTold.AT_ONCE) | Q(state=Study.State.CLOSED)
        )
        finished = Participant.objects.completed().filter(study=OuterRef("pk"), purpose__in=PEOPLE)
        return [f"“{study}”" for study in others.filter(Exists(finished)).order_by("pk")]

    def setting(self, name: str, title: str) -> Link:
        """The field of a setting in the study's form."""
        form = reverse("admin:studies_study_change", args=[self.study.pk])
        return Link(title, f"{form}#id_{name}")

    def page(self, name: str, title: str, anchor: str = "") -> Link:
        return Link(title, address(self.study, name) + anchor)

    @property
    def dataset_page(self) -> Link:
        url = reverse("admin:studies_dataset_change", args=[self.study.dataset_id])
        return Link("The data set’s page", url)
