"""What the tasks of all stages have in common."""

from __future__ import annotations

from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .datasets import Example, is_class_number
from .participants import Participant


class Task(models.Model):
    """What every task of every stage has: written before it is shown, answered at most once."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="%(class)ss")
    position = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)
    response_ms = models.FloatField(null=True, blank=True)
    digest = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="Of this answer and all before it (studies/chain.py).",
    )

    # What the digest is made from: what was asked and answered, and never changes afterwards.
    CHAINED: ClassVar[tuple[str, ...]] = ("position", "answered_at", "response_ms")
    # The columns that a step of a session reads, or none for all; others are read if somebody asks for them.
    NEEDED_BY_EVERY_STEP: ClassVar[tuple[str, ...]] = ()

    class Meta:
        abstract = True
        ordering = ["participant", "position"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "position"], name="%(class)s_position")
        ]

    def __str__(self) -> str:
        return f"{self.participant_id}: task {self.position}"

    @classmethod
    def needed_by_every_step(cls) -> tuple[str, ...]:
        everything = (field.attname for field in cls._meta.concrete_fields)
        return cls.NEEDED_BY_EVERY_STEP or tuple(everything)

    def mark_answered(self, response_ms: float | None) -> None:
        self.answered_at = timezone.now()
        self.response_ms = response_ms


AnyLabelTask = TypeVar("AnyLabelTask", bound="LabelTask", covariant=True)


class LabelTaskQuerySet(models.QuerySet[AnyLabelTask]):
    def of(self, participant: Participant) -> Self:
        """A participant's tasks in order, each with its example; all are of the study's data set."""
        return self.filter(participant=participant).select_related("example").order_by("position")

    def at(self, *positions: int) -> list[AnyLabelTask]:
        """The tasks at these positions; there is at least one."""
        return self.filter(position__in=positions).at_least_one()

    def answered(self, position: int) -> AnyLabelTask | None:
        """The task at a position, if it has been answered."""
        return self.filter(position=position, answered_at__isnull=False).first()

    def at_least_one(self) -> list[AnyLabelTask]:
        rows = list(self)
        if not rows:
            raise self.model.DoesNotExist
        return rows


class LabelTask(Task):
    """A task that is answered with a class: one image of teaching or of the evaluation."""

    example = models.ForeignKey(Example, models.PROTECT, related_name="+")
    answer = models.SmallIntegerField(
        null=True, blank=True, help_text="The number of the class chosen."
    )
    is_correct = models.BooleanField(null=True, blank=True)

    ANSWER_FIELDS = ("answer", "is_correct", "answered_at", "response_ms", "digest")
    CHAINED = (*Task.CHAINED, "example_id", "answer", "is_correct")
    NEEDED_BY_EVERY_STEP: ClassVar[tuple[str, ...]] = (
        "id", "participant_id", "position", "answered_at", "example_id", "answer", "is_correct",
    )  # fmt: skip

    class Meta(Task.Meta):
        abstract = True
        constraints = [
            *Task.Meta.constraints,
            models.CheckConstraint(
                condition=Q(answer__isnull=True) | is_class_number("answer"),
                name="%(class)s_answer",
            ),
        ]

    def take_answer(self, label: int, response_ms: float | None) -> None:
        self.answer = label
        self.is_correct = label == self.example.label
        self.mark_answered(response_ms)
