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
from ..keys import new_seed, new_token
from .datasets import Dataset
from .outcomes import WithOutcome
from .sharing import StudyQuerySet
from .versions import Versioned, tidy


class Study(Versioned, WithOutcome, models.Model):
    """One experiment: a data set, the paper's numbers, and a link. Defaults are the paper's values."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        PILOT = "pilot", "pilot"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    # The states in which the public link lets people in.
    TAKES_PART = (State.PILOT, State.OPEN)

    class Assignment(models.TextChoices):
        ROUND_ROBIN = (
            "round_robin",
            "round robin: the k-th worker gets arm k mod the number of arms",
        )
        FILL_GAPS = "fill_gaps", "fill gaps: the arm with the fewest completed and active workers"

    class Withdrawal(models.TextChoices):
        DELETE = "delete", "delete everything that the worker did"
        KEEP = "keep", "keep what was answered so far"

    # What a session is made of. A change makes a new version; people under way keep the old one.
    CONFIGURATION = (
        "dataset", "seed", "welcome", "consent", "minutes", "shows_score", "on_withdrawal",
        "memory_trials", "memory_min_length", "memory_max_length", "memory_extra_seconds", "memory_practice",
        "arms", "assignment", "cold_start", "short_steps", "medium_steps", "long_steps",
        "short_memory_up_to", "medium_memory_up_to", "other_steps", "learning_rate", "learning_rate_decay",
        "repeat_window", "min_look_ms", "evaluation_size", "attention_checks", "primary_outcome",
    )  # fmt: skip

    # Written by single statements while people join: a form that was opened earlier must not set them back.
    KEPT_BY_THE_SERVER = ("current_version", "next_ticket", "next_pilot_ticket", "closed_arms")

    title = models.CharField(max_length=120, help_text="Workers see it on every page.")
    slug = models.SlugField(
        "link name",
        unique=True,
        help_text="The last part of the public link: /s/LINK-NAME/. Changing it breaks links that were already "
        "handed out.",
    )
    dataset = models.ForeignKey(
        Dataset,
        models.PROTECT,
        verbose_name="data set",
        related_name="studies",
        help_text="The images to teach and test with, and the names of their two classes.",
    )
    state = models.CharField(
        max_length=10,
        choices=State,
        default=State.DRAFT,
        help_text="Who may begin. Change it with the buttons above the settings.",
    )
    seed = models.BigIntegerField(
        default=new_seed, help_text="Determines every random draw of the study."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="studies",
    )

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
        help_text="The study is full when this many have finished or are taking part. Empty: no limit.",
    )
    session_hours = models.PositiveSmallIntegerField(
        "hours until a session expires",
        default=24,
        validators=[MinValueValidator(1)],
        help_text="A worker who has not been seen for this long counts as having abandoned the session.",
    )
    shows_score = models.BooleanField(
        "show the score",
        default=True,
        help_text="Whether the last page shows the evaluation accuracy.",
    )
    completion_code = models.CharField(
        max_length=60,
        blank=True,
        help_text="Shown on the last page; workers enter it on the recruitment platform. Empty: no code.",
    )
    return_url = models.CharField(
        "return link",
        max_length=500,
        blank=True,
        help_text="Where workers return to, for example the completion link of your recruitment platform. "
        "{PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID}, {workerId}, {assignmentId}, {hitId} and {code} are filled in.",
        validators=[RegexValidator(r"^https?://", "Begin the link with https://")],
    )

    on_withdrawal = models.CharField(
        "when a worker withdraws",
        max_length=6,
        choices=Withdrawal,
        default=Withdrawal.DELETE,
        help_text="Workers are told this before they confirm.",
    )

    memory_trials = models.PositiveSmallIntegerField(
        "memory trials",
        default=3,
        validators=[MinValueValidator(2), MaxValueValidator(10)],
        help_text="The shortest is dropped, and n̄ is the mean of the others. β = 1 − 1/n̄.",
    )
    memory_min_length = models.PositiveSmallIntegerField(
        "images in the first round",
        default=2,
        validators=[MinValueValidator(2)],
        help_text="Every trial begins with this many; each correct round adds one.",
    )
    memory_max_length = models.PositiveSmallIntegerField(
        "images in the last round",
        default=9,
        help_text="A trial ends at the first mistake, or after a correct round of this length.",
    )
    memory_extra_seconds = models.FloatField(
        "seconds beyond one per image",
        default=1.0,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="n images are shown for n seconds plus this: by default, 3 s for 2 images and 10 s for 9.",
    )
    memory_practice = models.BooleanField(
        "practice round",
        default=True,
        help_text="One round of the shortest length, which does not count.",
    )

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
    next_ticket = models.PositiveIntegerField(default=0, editable=False)
    # Pilots have a round robin of their own, so that they leave no gap in the real one.
    next_pilot_ticket = models.PositiveIntegerField(default=0, editable=False)
    closed_arms = models.JSONField(default=list, blank=True, editable=False)
    target_per_arm = models.PositiveIntegerField(
        "wanted per teacher",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many completed workers you want for each teacher. The monitor shows it; the study stays "
        "open beyond it.",
    )
    cold_start = models.PositiveSmallIntegerField(
        "random images at the start",
        default=5,
        validators=[MinValueValidator(1)],
        help_text="Shown before any teacher chooses, with images of both classes; included in the numbers below.",
    )
    short_steps = models.PositiveSmallIntegerField(
        "images for a short memory",
        default=20,
        validators=[MinValueValidator(1)],
        help_text="How many images JEDI, which adapts to memory, shows when n̄ is at most the first limit below.",
    )
    medium_steps = models.PositiveSmallIntegerField(
        "images for a medium memory",
        default=30,
        validators=[MinValueValidator(1)],
        help_text="How many images JEDI shows when n̄ lies between the two limits below.",
    )
    long_steps = models.PositiveSmallIntegerField(
        "images for a long memory",
        default=40,
        validators=[MinValueValidator(1)],
        help_text="How many images JEDI shows when n̄ is above the second limit.",
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
    other_steps = models.PositiveSmallIntegerField(
        "images for the other teachers",
        default=30,
        validators=[MinValueValidator(1)],
        help_text="How many images teachers show that do not adapt to memory: all but JEDI.",
    )
    learning_rate = models.FloatField(
        "learning rate η₀",
        default=0.03,
        validators=[MinValueValidator(1e-9)],
        help_text="0.03 in the paper. The data set suggests a rate that suits the scale of its features.",
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
    min_look_ms = models.PositiveIntegerField(
        "minimum feedback time (ms)",
        default=0,
        validators=[MaxValueValidator(60_000)],
        help_text="How long the true label is shown before the worker can continue.",
    )

    evaluation_size = models.PositiveSmallIntegerField(
        "evaluation images",
        default=100,
        validators=[MinValueValidator(2)],
        help_text="New images without feedback, half of each class, in a different order for each worker.",
    )
    webhook_url = models.URLField(
        "webhook",
        max_length=500,
        blank=True,
        help_text="Receives a signed request whenever a live participant finishes. Begin it with https://",
    )
    webhook_secret = models.CharField(max_length=40, default=new_token, editable=False)
    attention_checks = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(10)],
        help_text="Images in the evaluation that say which button to press. They are not scored; "
        "they only measure attention. The paper has none.",
    )
    reward = models.DecimalField(
        "pay for taking part",
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="What each worker is paid for a completed session. Those who do best in the evaluation are "
        "paid double.",
    )
    currency = models.CharField(
        max_length=3,
        default="GBP",
        help_text="Three letters, such as GBP, EUR or USD.",
        validators=[RegexValidator(r"^[A-Z]{3}$", "Three capital letters, such as GBP or USD.")],
    )
    bonus_share = models.FloatField(
        "share that gets double pay",
        default=0.2,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="The highest evaluation accuracies; ties at the cut-off are included.",
    )

    objects = StudyQuerySet["Study"].as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("entry", args=[self.slug])

    def clean(self) -> None:
        """Checks the fields together. What only a later module can judge is left to that module's stage."""
        self.welcome, self.consent = tidy(self.welcome), tidy(self.consent)
        problems: dict[str, list[str]] = {}
        for stage in stages.flow() if self.dataset_id else ():
            for field, problem in stage.problems_of(self).items():
                problems.setdefault(field, []).append(problem)
        if problems:
            raise ValidationError(problems)

    @property
    def public_url(self) -> str:
        return settings.JEDI_PUBLIC_URL + self.get_absolute_url()

    @property
    def arm_names(self) -> list[str]:
        return [name.strip() for name in self.arms.split(",") if name.strip()]

    @property
    def open_arms(self) -> list[str]:
        """The arms that are still assigned; all of them if every one was closed."""
        return [name for name in self.arm_names if name not in self.closed_arms] or self.arm_names

    @property
    def cutoff(self) -> datetime:
        """A worker last seen before this moment has abandoned the session."""
        return timezone.now() - timedelta(hours=self.session_hours)

    def is_full(self) -> bool:
        if self.max_participants is None:
            return False
        return self.participants.live().occupying(self.cutoff).count() >= self.max_participants
