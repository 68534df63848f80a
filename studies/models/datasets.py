"""Data sets and their examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from ..keys import new_key, new_seed


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def visible_to(self, user: Any) -> DatasetQuerySet:
        """The user's own, those without an owner, and those of the studies that the user may see."""
        if user.is_superuser:
            return self
        from .studies import Study

        used = Study.objects.visible_to(user).values("dataset")
        return self.filter(Q(owner=user) | Q(owner=None) | Q(pk__in=used))


class Dataset(models.Model):
    """Images of two classes, split into a teaching pool and an evaluation set. Never changed once made."""

    name = models.CharField(max_length=100)
    version = models.PositiveSmallIntegerField(default=1)
    negative_class = models.CharField(max_length=60, help_text="The class that counts as −1.")
    positive_class = models.CharField(max_length=60, help_text="The class that counts as +1.")
    learning_rate = models.FloatField(
        "suggested learning rate",
        help_text="The η₀ that moves a simulated learner sensibly on these features.",
    )
    extractor = models.CharField(
        "features", max_length=20, blank=True, help_text="What turned images into numbers."
    )
    insight = models.JSONField(default=dict, blank=True, help_text="What its page tells about it.")
    seed = models.BigIntegerField(default=new_seed)
    key = models.CharField(max_length=24, unique=True, default=new_key, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="datasets",
    )

    objects = DatasetQuerySet.as_manager()

    class Meta:
        verbose_name = "data set"
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="one_dataset_per_version"),
            models.CheckConstraint(
                condition=~Q(negative_class=models.F("positive_class")),
                name="two_different_classes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} (version {self.version})"

    @property
    def folder(self) -> Path:
        """Everything on disk that belongs to this data set: `images/` and the teachers' `pool/`."""
        return Path(settings.JEDI_DATA_DIR) / "datasets" / self.key

    def image_path(self, example: Example) -> Path:
        return self.folder / "images" / f"{example.key}.jpg"

    def class_name(self, label: int) -> str:
        return self.positive_class if label > 0 else self.negative_class

    def label_of(self, class_name: str) -> int:
        return {self.positive_class: 1, self.negative_class: -1}[class_name]


class Example(models.Model):
    """One image of a data set."""

    class Split(models.TextChoices):
        TEACHING = "teaching", "teaching pool"
        EVALUATION = "evaluation", "evaluation set"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="examples")
    split = models.CharField(max_length=10, choices=Split)
    pool_index = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Its row in the teachers' pool; empty in the evaluation set.",
    )
    label = models.SmallIntegerField(choices=[(-1, "−1"), (1, "+1")])
    key = models.CharField(max_length=24, unique=True, default=new_key, editable=False)

    class Meta:
        ordering = ["dataset", "split", "pool_index", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "pool_index"], name="one_example_per_pool_row"
            ),
            models.CheckConstraint(
                condition=Q(label__in=[-1, 1]), name="label_is_plus_or_minus_one"
            ),
            models.CheckConstraint(
                condition=Q(split="teaching", pool_index__isnull=False)
                | Q(split="evaluation", pool_index__isnull=True),
                name="only_the_teaching_pool_has_rows",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.get_split_display()})"
