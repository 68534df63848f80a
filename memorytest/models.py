"""The rounds of the memory test."""

from typing import Any

from django.db import models
from django.utils import timezone

from studies.models import Task

from .displays import Disturbance, Report

PRACTICE = 0


class MemoryRoundQuerySet(models.QuerySet["MemoryRound"]):
    def counted(self) -> "MemoryRoundQuerySet":
        """No practice, and none whose display was disturbed and that was played again."""
        return self.exclude(trial=PRACTICE).exclude(is_replaced=True)


class MemoryRound(Task):
    """n pictures, shown in order for a time, to be put back into that order."""

    trial = models.PositiveSmallIntegerField(help_text="1, 2, 3 …; 0 is the practice round.")
    length = models.PositiveSmallIntegerField(help_text="n, the number of pictures.")
    pictures = models.JSONField(help_text="In the order in which they were shown.")
    shuffled = models.JSONField(help_text="In the order in which they came back.")
    exposure_ms = models.PositiveIntegerField(help_text="How long they were to be shown.")
    exposed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the display was first started."
    )
    exposures = models.PositiveSmallIntegerField(
        default=0, help_text="How often the order was sent; more than once after a lost reply."
    )
    shown_ms = models.FloatField(
        null=True,
        blank=True,
        help_text="How long they were shown, by the painted frames of the client.",
    )
    reported_at = models.DateTimeField(
        null=True, blank=True, help_text="When the client said how the display went."
    )
    dropped_frames = models.PositiveIntegerField(
        null=True, blank=True, help_text="Frames that the client did not paint in that time."
    )
    hidden_ms = models.FloatField(
        null=True, blank=True, help_text="How long the page was out of sight in that time."
    )
    unfocused_ms = models.FloatField(
        null=True, blank=True, help_text="How long another window had the focus in that time."
    )
    picture_px = models.FloatField(
        null=True, blank=True, help_text="The side of each picture, in CSS pixels."
    )
    window_width = models.PositiveIntegerField(null=True, blank=True)
    window_height = models.PositiveIntegerField(null=True, blank=True)
    pixel_ratio = models.FloatField(
        null=True, blank=True, help_text="Pixels of the screen for each CSS pixel."
    )
    pointer = models.CharField(
        max_length=6, blank=True, help_text="fine (a mouse), coarse (a finger) or none."
    )
    disturbance = models.CharField(
        max_length=11, blank=True, choices=Disturbance, help_text="What was wrong with the display."
    )
    is_replaced = models.BooleanField(
        default=False,
        help_text="Disturbed and played again with other pictures; it does not count.",
    )
    repeats = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The position of the disturbed round that this one replaces.",
    )
    restored = models.JSONField(null=True, blank=True, help_text="The order that the worker gave.")
    is_correct = models.BooleanField(null=True, blank=True)

    REPORT_FIELDS = (*Report().values(), "reported_at", "disturbance", "is_replaced")
    ANSWER_FIELDS = ("restored", "is_correct", "shown_ms", "answered_at", "response_ms", "digest")
    CHAINED = (
        *Task.CHAINED, "trial", "length", "pictures", "restored", "is_correct", "exposure_ms", "shown_ms",
    )  # fmt: skip

    objects = MemoryRoundQuerySet.as_manager()

    class Meta(Task.Meta):
        pass

    @property
    def is_practice(self) -> bool:
        return self.trial == PRACTICE

    def ends_trial(self, last_length: int) -> bool:
        """Wrong, or the longest round right."""
        return not self.is_correct or self.length >= last_length

    def feedback(self) -> dict[str, object]:
        return {
            "kind": "memory",
            "position": self.position,
            "is_correct": self.is_correct,
            "is_practice": self.is_practice,
            "length": self.length,
            "trial": self.trial,
            "trial_ended": self.ends_trial(self.participant.study_as_joined.memory_max_length),
        }

    def disturbed_feedback(self) -> dict[str, object] | None:
        """What the worker is told when the round is played again."""
        if not self.is_replaced:
            return None
        return {
            "kind": "memory",
            "position": self.position,
            "disturbance": self.disturbance,
            "is_replaced": True,
            "is_practice": self.is_practice,
            "length": self.length,
            "trial": self.trial,
        }

    def take_report(self, report: Report) -> None:
        """Keeps how the display went. A round that already replaces another one counts, whatever happened."""
        for name, value in report.values().items():
            setattr(self, name, value)
        self.reported_at = timezone.now()
        self.disturbance = report.disturbance(self.exposure_ms)
        self.is_replaced = bool(self.disturbance) and self.repeats is None

    def set_answer(self, answer: dict[str, Any]) -> None:
        """The report on the display, if there was one, has said how long the pictures were shown."""
        super().set_answer(answer)
        self.restored = answer["order"]
        self.is_correct = self.restored == self.pictures
        if self.reported_at is None:
            self.shown_ms = answer.get("shown_ms")

    def has_answer(self, answer: dict[str, Any]) -> bool:
        return bool(self.restored == answer["order"])

    @property
    def units_done(self) -> int:
        return max(self.trial - 1, 0)

    @property
    def part_done(self) -> float:
        """How far the trial is, as if it went on to its longest round."""
        study = self.participant.study_as_joined
        if self.is_practice or not study.shows_round_progress:
            return 0.0
        rounds = study.memory_max_length - study.memory_min_length + 1
        return float((self.length - study.memory_min_length) / rounds)

    def begin_exposure(self) -> None:
        self.exposed_at = self.exposed_at or timezone.now()
        # A counter of lost replies, not of endless requests.
        self.exposures = min(self.exposures + 1, 1000)
