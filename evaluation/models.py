"""The images of the evaluation."""

from django.db import models

from studies.models import Example, Participant, Task


class EvaluationItemQuerySet(models.QuerySet["EvaluationItem"]):
    def of(self, participant: Participant) -> "EvaluationItemQuerySet":
        """A participant's images in order, with what is needed to show them."""
        return (
            self.filter(participant=participant)
            .select_related("example__dataset")
            .order_by("position")
        )


class EvaluationItem(Task):
    """One evaluation image of one worker. All of them are drawn, in order, when the evaluation begins."""

    item = models.PositiveSmallIntegerField(help_text="From 1.")
    example = models.ForeignKey(Example, models.PROTECT, related_name="+")
    answer = models.SmallIntegerField(null=True, blank=True, choices=[(-1, "−1"), (1, "+1")])
    is_correct = models.BooleanField(null=True, blank=True)

    objects = EvaluationItemQuerySet.as_manager()

    class Meta(Task.Meta):
        constraints = [
            *Task.Meta.constraints,
            models.UniqueConstraint(
                fields=["participant", "example"], name="no_image_twice_in_evaluation"
            ),
            models.CheckConstraint(
                condition=models.Q(answer__isnull=True) | models.Q(answer__in=[-1, 1]),
                name="evaluation_answer_is_plus_or_minus_one",
            ),
        ]
