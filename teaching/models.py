"""The steps of interactive teaching."""

from typing import Any

from django.db import models

from studies.models import LabelTask, LabelTaskQuerySet


class TeachingStep(LabelTask):
    """One image that a teacher chose, everything it knew when it chose, and the worker's answer."""

    step = models.PositiveSmallIntegerField(help_text="t, from 1.")
    is_random = models.BooleanField(help_text="Part of the cold start.")
    is_first_showing = models.BooleanField(help_text="This worker had not seen the image before.")

    probabilities = models.JSONField(
        help_text="The teacher's estimate, before the answer, of the probability of each answer, class 0 first."
    )
    p = models.FloatField(
        null=True,
        blank=True,
        help_text="With two classes, the second of the probabilities. Empty with more.",
    )
    f = models.FloatField(help_text="The teacher's estimate that the worker is wrong.")
    score = models.FloatField(
        null=True, blank=True, help_text="The value of the objective; smaller is better."
    )
    diversity = models.FloatField(null=True, blank=True)
    usefulness = models.FloatField(null=True, blank=True)
    learner_kind = models.CharField(
        max_length=30,
        blank=True,
        help_text="The likeliest kind of learner, for a teacher that weighs kinds.",
    )
    learner_kind_p = models.FloatField(
        null=True, blank=True, help_text="How probable that kind was, before the answer."
    )
    teacher_version = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        help_text="The version of the teacher's rule. Replays compare choices of the same version only.",
    )
    learning_rate = models.FloatField(help_text="η_t")
    choice_ms = models.FloatField(help_text="How long the choice took.")
    feedback_ms = models.FloatField(
        null=True, blank=True, help_text="How long the true class was in sight, by the client."
    )

    CHAINED = (*LabelTask.CHAINED, "step")
    NUMBER = "step"
    STEP_COLUMNS = (*LabelTask.STEP_COLUMNS, "step")

    # The steps up to this one, once they have been read (teaching/choice.py).
    history: Any = None

    objects = LabelTaskQuerySet["TeachingStep"].as_manager()

    class Meta(LabelTask.Meta):
        constraints = [
            *LabelTask.Meta.constraints,
            models.UniqueConstraint(fields=["participant", "step"], name="one_row_per_step"),
        ]
