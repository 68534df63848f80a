"""The images of the evaluation."""

from django.db import models

from studies.models import LabelTask, Participant


class EvaluationItemQuerySet(models.QuerySet["EvaluationItem"]):
    def of(self, participant: Participant) -> "EvaluationItemQuerySet":
        """A participant's images in order, with what is needed to show them."""
        return (
            self.filter(participant=participant)
            .select_related("example__dataset")
            .order_by("position")
        )


class EvaluationItem(LabelTask):
    """One evaluation image of one worker. All of them are drawn, in order, when the evaluation begins."""

    item = models.PositiveSmallIntegerField(help_text="From 1.")

    objects = EvaluationItemQuerySet.as_manager()

    class Meta(LabelTask.Meta):
        constraints = [
            *LabelTask.Meta.constraints,
            models.UniqueConstraint(
                fields=["participant", "example"], name="no_image_twice_in_evaluation"
            ),
        ]
