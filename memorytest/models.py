"""The rounds of the memory test."""

from django.db import models
from django.utils import timezone

from studies.models import Task

PRACTICE = 0


class MemoryRoundQuerySet(models.QuerySet["MemoryRound"]):
    def counted(self) -> "MemoryRoundQuerySet":
        return self.exclude(trial=PRACTICE)


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
        null=True, blank=True, help_text="How long they were shown, by the client."
    )
    restored = models.JSONField(null=True, blank=True, help_text="The order that the worker gave.")
    is_correct = models.BooleanField(null=True, blank=True)

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

    def begin_exposure(self) -> None:
        self.exposed_at = self.exposed_at or timezone.now()
        # A counter of lost replies, not of endless requests.
        self.exposures = min(self.exposures + 1, 1000)
