"""Module 2 of a session: the teachers, who gets which, and how they teach."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from .base import SettingsGroup, StudySettings

if TYPE_CHECKING:
    from ..datasets import Dataset


class JediEstimator(models.TextChoices):
    """Whence JEDI has what the worker believes."""

    PAPER = "paper", "as in the paper: harmonic"
    MENDED = "mended", "mended: guesses, prior, labels told"


class TeachingSettings(StudySettings):
    if TYPE_CHECKING:
        dataset: models.ForeignKey[Dataset, Dataset]

    group: ClassVar = SettingsGroup(
        "Module 2: teaching",
        "One image at a time: the worker names its class, then sees the true one. The teacher chooses the next image, "
        "based on all answers so far.",
        harmless={"assignment"},
    )

    class Assignment(models.TextChoices):
        ROUND_ROBIN = (
            "round_robin",
            "round robin: the k-th worker gets arm k mod the number of arms",
        )
        FILL_GAPS = "fill_gaps", "fill gaps: the arm with the fewest completed and active workers"

    arms = models.CharField(
        "teachers",
        max_length=200,
        default="jedi,imt,eer,rt",
        help_text="In the order in which they are assigned, separated by commas.",
    )
    assignment = models.CharField(
        max_length=12,
        choices=Assignment,
        default=Assignment.ROUND_ROBIN,
        help_text="How workers are assigned to teachers after the memory test. The paper uses round robin; "
        "filling gaps keeps the numbers of completed workers balanced when some drop out.",
    )
    cold_start = models.PositiveSmallIntegerField(
        "random images at the start",
        default=5,
        validators=[MinValueValidator(1)],
        help_text="Shown before any teacher chooses, with images of every class; included in the numbers below.",
    )
    short_memory_up_to = models.FloatField(
        "short memory: n̄ up to",
        default=4.5,
        help_text="n̄, from the memory test, is the number of pictures whose order a worker can remember.",
    )
    medium_memory_up_to = models.FloatField(
        "medium memory: n̄ up to",
        default=6.5,
        help_text="Anything above this is a long memory.",
    )
    short_steps = models.PositiveSmallIntegerField(
        "images for a short memory",
        default=20,
        validators=[MinValueValidator(1)],
        help_text="How many images JEDI, which adapts to memory, shows when n̄ is at most the first of these limits.",
    )
    medium_steps = models.PositiveSmallIntegerField(
        "images for a medium memory",
        default=30,
        validators=[MinValueValidator(1)],
        help_text="How many images JEDI shows when n̄ lies between the two limits.",
    )
    long_steps = models.PositiveSmallIntegerField(
        "images for a long memory",
        default=40,
        validators=[MinValueValidator(1)],
        help_text="How many images JEDI shows when n̄ is above the second limit.",
    )
    other_steps = models.PositiveSmallIntegerField(
        "images for the other teachers",
        default=30,
        validators=[MinValueValidator(1)],
        help_text="How many images teachers show that do not adapt to memory: all but JEDI.",
    )
    learning_rate = models.FloatField(
        "learning rate η₀",
        null=True,
        blank=True,
        validators=[MinValueValidator(1e-9)],
        help_text="How far one image moves a worker, as teachers assume. Empty: the rate that the data set suggests, "
        "which suits the scale of its features. The paper's 0.03 suits the paper's features.",
    )
    learning_rate_decay = models.FloatField(
        "decay c of the learning rate",
        default=20.0,
        validators=[MinValueValidator(1e-9)],
        help_text="η_t = η₀·c/(c+t)",
    )
    repeat_window = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="How many of the most recent images JEDI, IMT and Tracked may not show again. Empty: 2/(1−β). 0: the "
        "paper's plain minimum, which often repeats the image just shown.",
    )
    jedi_estimator = models.CharField(
        "JEDI’s estimate",
        max_length=10,
        choices=JediEstimator,
        default=JediEstimator.PAPER,
        help_text="How JEDI finds out what the worker believes. The paper’s harmonic estimate takes every answer for a "
        "lasting belief and has predicted people no better than a guess; “mended” knows guesses, all answers and what "
        "the worker was told. The other teachers stay as they are. See “What is known about people” in the "
        "documentation.",
    )
    shows_references = models.BooleanField(
        "reference pictures",
        default=False,
        help_text="Whether workers see one picture of each class, with its name, before the first image. The data "
        "set's page says which pictures. The paper has none.",
    )
    min_look_ms = models.PositiveIntegerField(
        "minimum feedback time (ms)",
        default=600,
        validators=[MaxValueValidator(60_000)],
        help_text="How long the true label is shown before the worker can continue, so that nobody clicks past it. The "
        "paper says nothing about it.",
    )
    auto_advance_ms = models.PositiveIntegerField(
        "go on by itself (ms)",
        default=0,
        validators=[MaxValueValidator(60_000)],
        help_text="After a right answer the next image follows by itself once the true label has been shown for this "
        "long. 0: the worker always continues by a press. A wrong answer always waits for one.",
    )

    class Meta:
        abstract = True

    @property
    def effective_learning_rate(self) -> float:
        """η₀ as it was set, or as the data set suggests."""
        own: float | None = self.learning_rate
        return self.dataset.learning_rate if own is None else own
