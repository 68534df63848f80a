"""Studies: one experiment each, with the paper's numbers as defaults."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.urls import reverse
from django.utils import timezone

from .. import stages
from ..keys import new_seed
from .datasets import Dataset


class Study(models.Model):
    """One experiment: a data set, the paper's numbers, and a link. Defaults are the paper's values."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    class Assignment(models.TextChoices):
        ROUND_ROBIN = (
            "round_robin",
            "round robin: the k-th worker gets arm k mod the number of arms",
        )
        FILL_GAPS = "fill_gaps", "fill gaps: the arm with the fewest completed and active workers"

    # With another value half-way, the stages of a session would not fit together and no replay would match.
    FIXED_BY_SESSIONS = (
        "dataset", "seed", "memory_trials", "memory_min_length", "memory_max_length", "memory_extra_seconds",
        "memory_practice", "arms", "cold_start", "short_steps", "medium_steps", "long_steps",
        "short_memory_up_to", "medium_memory_up_to", "other_steps", "learning_rate", "learning_rate_decay",
        "repeat_window", "evaluation_size",
    )  # fmt: skip

    title = models.CharField(max_length=120, help_text="Workers see it on every page.")
    slug = models.SlugField(
        "link name", unique=True, help_text="The last part of the public link: /s/LINK-NAME/"
    )
    dataset = models.ForeignKey(
        Dataset, models.PROTECT, verbose_name="data set", related_name="studies"
    )
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    seed = models.BigIntegerField(
        default=new_seed, help_text="Every random draw of the study follows from it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    welcome = models.TextField(
        blank=True,
        help_text="Shown before a worker begins. Plain text; a blank line starts a paragraph.",
    )
    consent = models.TextField(
        "consent text", help_text="Your own text. Plain text; a blank line starts a paragraph."
    )
    minutes = models.PositiveSmallIntegerField(
        "minutes it takes", default=20, help_text="Workers are told this before they begin."
    )
    max_participants = models.PositiveIntegerField(
        "places",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The study is full when so many have finished or are taking part. Empty: no limit.",
    )
    session_hours = models.PositiveSmallIntegerField(
        "hours until a session expires",
        default=24,
        validators=[MinValueValidator(1)],
        help_text="A worker who was not seen for so long counts as having abandoned the session.",
    )
    shows_score = models.BooleanField(
        "show the score",
        default=True,
        help_text="Whether the last page tells the evaluation accuracy.",
    )
    completion_code = models.CharField(max_length=60, blank=True)
    return_url = models.CharField(
        "return link",
        max_length=500,
        blank=True,
        help_text="Where workers go back to, for example the completion link of your recruitment platform. "
        "{PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID}, {workerId}, {assignmentId}, {hitId} and {code} are filled in.",
        validators=[RegexValidator(r"^https?://", "Begin the link with https://")],
    )

    memory_trials = models.PositiveSmallIntegerField(
        "memory trials", default=3, validators=[MinValueValidator(2), MaxValueValidator(10)]
    )
    memory_min_length = models.PositiveSmallIntegerField(
        "images in the first round", default=2, validators=[MinValueValidator(2)]
    )
    memory_max_length = models.PositiveSmallIntegerField("images in the last round", default=9)
    memory_extra_seconds = models.FloatField(
        "seconds beyond one per image",
        default=1.0,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="n images are shown for n + this many seconds: 3 s for 2 … 10 s for 9.",
    )
    memory_practice = models.BooleanField(
        "practice round",
        default=True,
        help_text="One round of the shortest length that does not count.",
    )

    arms = models.CharField(
        "teachers",
        max_length=200,
        default="jedi,imt,eer,rt",
        help_text="In the order in which they are given out, separated by commas.",
    )
    assignment = models.CharField(max_length=12, choices=Assignment, default=Assignment.ROUND_ROBIN)
    next_ticket = models.PositiveIntegerField(default=0, editable=False)
    cold_start = models.PositiveSmallIntegerField(
        "random images at first", default=5, validators=[MinValueValidator(1)]
    )
    short_steps = models.PositiveSmallIntegerField(
        "JEDI images, short memory", default=20, validators=[MinValueValidator(1)]
    )
    medium_steps = models.PositiveSmallIntegerField(
        "JEDI images, medium memory", default=30, validators=[MinValueValidator(1)]
    )
    long_steps = models.PositiveSmallIntegerField(
        "JEDI images, long memory", default=40, validators=[MinValueValidator(1)]
    )
    short_memory_up_to = models.FloatField("short memory: n̄ up to", default=4.5)
    medium_memory_up_to = models.FloatField("medium memory: n̄ up to", default=6.5)
    other_steps = models.PositiveSmallIntegerField(
        "images of the other teachers", default=30, validators=[MinValueValidator(1)]
    )
    learning_rate = models.FloatField(
        "learning rate η₀",
        default=0.03,
        validators=[MinValueValidator(1e-9)],
        help_text="The paper's value. The data set suggests one for the scale of its features.",
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
        help_text="How many of the last images JEDI and IMT may not show again. Empty: 2/(1−β); 0: the paper's plain "
        "minimum, which often repeats the image just shown.",
    )
    min_look_ms = models.PositiveIntegerField(
        "least time for feedback (ms)",
        default=0,
        validators=[MaxValueValidator(60_000)],
        help_text="How long the true label stays before the worker can go on.",
    )

    evaluation_size = models.PositiveSmallIntegerField(
        "evaluation images",
        default=100,
        validators=[MinValueValidator(2)],
        help_text="Half of each class.",
    )
    bonus_share = models.FloatField(
        "share that gets double pay",
        default=0.2,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="The top of the evaluation accuracies; ties at the edge are included.",
    )

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("entry", args=[self.slug])

    def clean(self) -> None:
        """Checks the fields together. What only a later module can judge, that module's stage judges."""
        problems: dict[str, list[str]] = {}
        for stage in stages.flow() if self.dataset_id else ():
            for field, problem in stage.problems_of(self).items():
                problems.setdefault(field, []).append(problem)
        for field in self._changed_under_way():
            problems.setdefault(field, []).append(
                "People are taking part, and their sessions depend on this setting. "
                "Make a new study to change it."
            )
        if problems:
            raise ValidationError(problems)

    def _changed_under_way(self) -> list[str]:
        """Settings that fix what a session is, changed after somebody has begun one."""
        stored = Study.objects.filter(pk=self.pk).first()
        if stored is None or not stored.participants.exists():
            return []
        return [
            field.name
            for field in self._meta.concrete_fields
            if field.name in self.FIXED_BY_SESSIONS
            and getattr(self, field.attname) != getattr(stored, field.attname)
        ]

    @property
    def public_url(self) -> str:
        return settings.JEDI_PUBLIC_URL + self.get_absolute_url()

    @property
    def arm_names(self) -> list[str]:
        return [name.strip() for name in self.arms.split(",") if name.strip()]

    @property
    def cutoff(self) -> datetime:
        """Who was last seen before this moment has abandoned the session."""
        return timezone.now() - timedelta(hours=self.session_hours)

    def is_full(self) -> bool:
        if self.max_participants is None:
            return False
        return self.participants.occupying(self.cutoff).count() >= self.max_participants
