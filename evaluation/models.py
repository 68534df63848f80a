"""The images of the evaluation."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from studies.models import LabelTask, LabelTaskQuerySet
from studies.models.datasets import is_class_number


class EvaluationItemQuerySet(LabelTaskQuerySet["EvaluationItem"]):
    def counted(self) -> EvaluationItemQuerySet:
        """The test itself, without attention checks."""
        return self.filter(instructed_label=None)

    def checks(self) -> EvaluationItemQuerySet:
        return self.exclude(instructed_label=None)


class EvaluationItem(LabelTask):
    """One evaluation image of one worker. All of them are drawn, in order, when the evaluation begins."""

    item = models.PositiveSmallIntegerField(help_text="From 1.")
    instructed_label = models.SmallIntegerField(
        null=True,
        blank=True,
        help_text="In an attention check, the number of the class that the worker is asked to choose.",
    )

    CHAINED = (*LabelTask.CHAINED, "item", "instructed_label")
    NUMBER = "item"
    STEP_COLUMNS = (*LabelTask.STEP_COLUMNS, "item", "instructed_label")

    # The items after this one, as far as they have been read (evaluation/stage.py).
    following: Any = ()

    objects = EvaluationItemQuerySet.as_manager()

    class Meta(LabelTask.Meta):
        constraints = [
            *LabelTask.Meta.constraints,
            models.UniqueConstraint(
                fields=["participant", "example"], name="no_image_twice_in_evaluation"
            ),
            models.CheckConstraint(
                condition=Q(instructed_label=None)
                | (is_class_number("instructed_label") & Q(is_correct=None)),
                name="attention_check_is_neither_right_nor_wrong",
            ),
        ]

    @property
    def is_check(self) -> bool:
        return self.instructed_label is not None

    @property
    def is_passed(self) -> bool | None:
        """Whether an attention check was answered as it asked; None before that, and of other images."""
        is_open = self.instructed_label is None or self.answer is None
        return None if is_open else self.answer == self.instructed_label

    def set_answer(self, answer: dict[str, Any]) -> None:
        """An attention check is passed or failed, never correct or incorrect, so that no accuracy can count it."""
        super().set_answer(answer)
        if self.is_check:
            self.is_correct = None
