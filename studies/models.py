"""Who takes part in what: data sets, their examples, studies and participants."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from . import stages
from .keys import new_code, new_key, new_seed, new_token


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

    @property
    def class_name(self) -> str:
        return self.dataset.class_name(self.label)


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


class ParticipantQuerySet(models.QuerySet["Participant"]):
    """Questions about many participants; `cutoff` is the study's: unseen since then means abandoned."""

    def with_token(self, token: str) -> ParticipantQuerySet:
        # Postgres takes no NUL in a text, not even to say that nothing matches.
        return self.none() if "\0" in token else self.filter(token=token)

    def with_study(self) -> ParticipantQuerySet:
        """With what every step of a session needs. The data set's insight is for its page, and large."""
        return self.select_related("study__dataset").defer("study__dataset__insight")

    def completed(self) -> ParticipantQuerySet:
        return self.filter(stage=Participant.Stage.DONE)

    def overdue(self, cutoff: datetime) -> ParticipantQuerySet:
        return self.filter(stage__in=Participant.STAGES_UNDER_WAY, last_seen_at__lt=cutoff)

    def occupying(self, cutoff: datetime) -> ParticipantQuerySet:
        """Those who take up a place: finished, or taking part now."""
        taking_part = Q(stage__in=Participant.STAGES_UNDER_WAY, last_seen_at__gte=cutoff)
        return self.filter(taking_part | Q(stage=Participant.Stage.DONE))


class Participant(models.Model):
    """One person in one study. The stages leave their results here, and meet nowhere else."""

    class Stage(models.TextChoices):
        CONSENT = "consent", "consent"
        MEMORY = "memory", "memory test"
        TEACHING = "teaching", "teaching"
        EVALUATION = "evaluation", "evaluation"
        DONE = "done", "done"
        DECLINED = "declined", "declined"
        ABANDONED = "abandoned", "abandoned"

    class Recruiter(models.TextChoices):
        NONE = "", "none (anonymous link)"
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Mechanical Turk"

    STAGES_UNDER_WAY = (Stage.CONSENT, Stage.MEMORY, Stage.TEACHING, Stage.EVALUATION)

    study = models.ForeignKey(Study, models.PROTECT, related_name="participants")
    code = models.CharField(max_length=9, unique=True, default=new_code, editable=False)
    token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    seed = models.BigIntegerField(default=new_seed, editable=False)

    recruiter = models.CharField(max_length=10, choices=Recruiter, blank=True)
    external_id = models.CharField(max_length=120, blank=True)
    external_study = models.CharField(max_length=120, blank=True)
    external_session = models.CharField(max_length=120, blank=True)

    stage = models.CharField(max_length=10, choices=Stage, default=Stage.CONSENT, db_index=True)
    position = models.PositiveIntegerField(default=1, help_text="The number of the current task.")
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    consented_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    memory_lengths = models.JSONField(default=list, blank=True)
    memory_span = models.FloatField("n̄", null=True, blank=True)
    beta = models.FloatField("β", null=True, blank=True)
    ticket = models.PositiveIntegerField(null=True, blank=True)
    arm = models.CharField(max_length=20, blank=True)
    teaching_steps = models.PositiveSmallIntegerField(null=True, blank=True)
    teaching_started_at = models.DateTimeField(null=True, blank=True)
    evaluation_started_at = models.DateTimeField(null=True, blank=True)
    unique_examples = models.PositiveSmallIntegerField(null=True, blank=True)
    first_seen_accuracy = models.FloatField(null=True, blank=True)
    evaluation_accuracy = models.FloatField(null=True, blank=True)
    teaching_gain = models.FloatField(null=True, blank=True)

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["study", "stage", "arm"], name="participants_by_arm")]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "recruiter", "external_id"],
                condition=~Q(external_id=""),
                name="one_session_per_external_id",
            ),
            models.UniqueConstraint(fields=["study", "ticket"], name="one_participant_per_ticket"),
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("session", args=[self.token])

    @property
    def is_under_way(self) -> bool:
        return self.stage in self.STAGES_UNDER_WAY

    @property
    def has_expired(self) -> bool:
        if self.stage == self.Stage.ABANDONED:
            return True
        return self.is_under_way and self.last_seen_at < self.study.cutoff

    @property
    def classes(self) -> list[str]:
        """The two class names in the order of this participant's buttons, counterbalanced by the seed."""
        names = [self.study.dataset.negative_class, self.study.dataset.positive_class]
        return names if self.seed % 2 else names[::-1]

    @property
    def return_url(self) -> str | None:
        """The study's return link with this participant's ids filled in, each made safe for an address."""
        values = self.recruitment_parameters() | {"code": self.study.completion_code}
        link = self.study.return_url
        for name, value in values.items():
            link = link.replace("{" + name + "}", quote(value, safe=""))
        return link or None

    def recruitment_parameters(self) -> dict[str, str]:
        names: dict[str, tuple[str, str, str]] = {
            self.Recruiter.PROLIFIC: ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
            self.Recruiter.MTURK: ("workerId", "hitId", "assignmentId"),
        }
        values = (self.external_id, self.external_study, self.external_session)
        return dict(zip(names.get(self.recruiter, ()), values, strict=False))


class Task(models.Model):
    """What every task of every stage has: written before it is shown, answered at most once."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="%(class)ss")
    position = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)
    response_ms = models.FloatField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["participant", "position"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "position"], name="%(class)s_position")
        ]

    def __str__(self) -> str:
        return f"{self.participant_id}: task {self.position}"

    @property
    def is_answered(self) -> bool:
        return self.answered_at is not None

    def mark_answered(self, response_ms: float | None) -> None:
        self.answered_at = timezone.now()
        self.response_ms = response_ms


AnyLabelTask = TypeVar("AnyLabelTask", bound="LabelTask", covariant=True)


class LabelTaskQuerySet(models.QuerySet[AnyLabelTask]):
    def of(self, participant: Participant) -> Self:
        """A participant's tasks in order, each with its example; all are of the study's data set."""
        return self.filter(participant=participant).select_related("example").order_by("position")

    def with_class_names(self) -> Self:
        return self.select_related("example__dataset").defer("example__dataset__insight")


class LabelTask(Task):
    """A task that is answered with a class: one image of teaching or of the evaluation."""

    example = models.ForeignKey(Example, models.PROTECT, related_name="+")
    answer = models.SmallIntegerField(null=True, blank=True, choices=[(-1, "−1"), (1, "+1")])
    is_correct = models.BooleanField(null=True, blank=True)

    ANSWER_FIELDS = ("answer", "is_correct", "answered_at", "response_ms")

    class Meta(Task.Meta):
        abstract = True
        constraints = [
            *Task.Meta.constraints,
            models.CheckConstraint(
                condition=Q(answer__isnull=True) | Q(answer__in=[-1, 1]), name="%(class)s_answer"
            ),
        ]

    @property
    def answer_name(self) -> str:
        return self.example.dataset.class_name(self.answer) if self.answer else ""

    def take_answer(self, label: int, response_ms: float | None) -> None:
        self.answer = label
        self.is_correct = label == self.example.label
        self.mark_answered(response_ms)
