"""The images of the evaluation."""

from django.db import models

from studies.models import LabelTask, LabelTaskQuerySet


class EvaluationItem(LabelTask):
    """One evaluation image of one worker. All of them are drawn, in order, when the evaluation begins."""

    item = models.PositiveSmallIntegerField(help_text="From 1.")

    objects = LabelTaskQuerySet["EvaluationItem"].as_manager()

    class Meta(LabelTask.Meta):
        constraints = [
            *LabelTask.Meta.constraints,
            models.UniqueConstraint(
                fields=["participant", "example"], name="no_image_twice_in_evaluation"
            ),
        ]
