"""Data sets, their classes and their examples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from .. import images
from ..images import SMALLEST
from ..keys import new_key, new_seed

# They can be told apart on paper and on a dark screen, neighbours in the list most of all.
CLASS_COLOURS = (
    "#d9792f", "#5b86d6", "#3f9e5a", "#b0569d", "#c9a227", "#2aa1a8", "#c94f4f", "#7a6fd0", "#7f8c3a", "#e07ba0",
    "#8a6246", "#4aa3df", "#6f7b86", "#a33d6b", "#1f7a6d", "#b98bd1", "#9bb84a", "#9c4206", "#3d5a98", "#d0a58a",
)  # fmt: skip
MIN_CLASSES, MAX_CLASSES = 2, len(CLASS_COLOURS)


def is_class_number(field: str) -> Q:
    """A column that says which class of a data set, from 0."""
    return Q(**{f"{field}__gte": 0, f"{field}__lt": MAX_CLASSES})


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def visible_to(self, user: Any) -> DatasetQuerySet:
        """The user's own, those without an owner, and those of the studies that the user may see."""
        if user.is_superuser:
            return self
        from .studies import Study

        used = Study.objects.visible_to(user).values("dataset")
        return self.filter(Q(owner=user) | Q(owner=None) | Q(pk__in=used))


class Dataset(models.Model):
    """Images of two or more classes, split into a teaching pool and an evaluation set. Never changed once made."""

    name = models.CharField(max_length=100)
    version = models.PositiveSmallIntegerField(default=1)
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
        ]

    def __str__(self) -> str:
        return f"{self.name} (version {self.version})"

    @staticmethod
    def all_folders() -> Path:
        """Where the folders of all data sets are."""
        return images.datasets_folder()

    @property
    def folder(self) -> Path:
        """Everything on disk that belongs to this data set: `images/`, larger copies, and the teachers' `pool/`."""
        return self.all_folders() / self.key

    def image_folder(self, side: int = SMALLEST) -> Path:
        return images.image_folder(self.key, side)

    def image_path(self, example: Example, side: int = SMALLEST) -> Path:
        return images.image_file(self.key, example.key, side)

    @cached_property
    def class_names(self) -> list[str]:
        """What people read, class 0 first."""
        return [one.display_name for one in self.classes.all()]


class ImageClass(models.Model):
    """One of the classes of a data set. Everything else knows it by its number."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="classes")
    index = models.PositiveSmallIntegerField(help_text="Its number in the data set, from 0.")
    name = models.CharField(max_length=60, help_text="As the imported files call it.")
    display_name = models.CharField(
        max_length=60,
        help_text="What workers and researchers read. It stays as it is once anybody has joined a study of the data "
        "set.",
    )
    colour = models.CharField(
        max_length=7,
        validators=[
            RegexValidator(
                r"^#[0-9a-f]{6}$", "Write a colour as # and six digits, such as #d9792f."
            )
        ],
        help_text="Its mark on maps and figures.",
    )
    description = models.CharField(
        max_length=200,
        blank=True,
        help_text="A sentence about it. Workers read it beside the reference picture.",
    )
    reference = models.ForeignKey(
        "Example",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="reference picture",
        help_text="An image of the teaching pool that shows the class well.",
    )

    class Meta:
        verbose_name = "class"
        verbose_name_plural = "classes"
        ordering = ["dataset", "index"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "index"], name="one_class_per_index"),
            models.UniqueConstraint(fields=["dataset", "name"], name="one_class_per_name"),
            models.UniqueConstraint(
                fields=["dataset", "display_name"], name="one_class_per_display_name"
            ),
            models.CheckConstraint(
                condition=is_class_number("index"), name="index_is_a_class_number"
            ),
        ]

    def __str__(self) -> str:
        return self.display_name

    @classmethod
    def numbered(cls, dataset: Dataset, names: Sequence[str]) -> list[ImageClass]:
        """Classes of these names, from 0, each in a colour of its own. Not yet written."""
        rows = zip(names, readable_names(names), CLASS_COLOURS, strict=False)
        return [
            cls(dataset=dataset, index=index, name=name, display_name=shown, colour=colour)
            for index, (name, shown, colour) in enumerate(rows)
        ]


def readable_names(names: Sequence[str]) -> Sequence[str]:
    """Names of folders as people would write them, unless that makes two of them the same."""
    shown = [" ".join(name.replace("_", " ").split()) or name for name in names]
    return shown if len(set(shown)) == len(names) else names


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
    label = models.SmallIntegerField("class", help_text="The number of its class.")
    key = models.CharField(max_length=24, unique=True, default=new_key, editable=False)

    class Meta:
        ordering = ["dataset", "split", "pool_index", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "pool_index"], name="one_example_per_pool_row"
            ),
            models.CheckConstraint(
                condition=is_class_number("label"), name="label_is_a_class_number"
            ),
            models.CheckConstraint(
                condition=Q(split="teaching", pool_index__isnull=False)
                | Q(split="evaluation", pool_index__isnull=True),
                name="only_the_teaching_pool_has_rows",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.get_split_display()})"
