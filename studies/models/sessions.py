"""Participants, one person in one study each, and what the tasks of all stages have in common."""

from __future__ import annotations

import hashlib
import zlib
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar
from urllib.parse import quote

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from ..keys import new_code, new_seed, new_token, session_tokens
from .datasets import MIN_CLASSES, Example, is_class_number
from .settings import BetaMapping
from .studies import Study
from .versions import StudyVersion

if TYPE_CHECKING:
    import numpy as np


def digest_of(token: str) -> str:
    """What is stored of a secret token. It has at least 24 random bytes, so a plain hash is safe."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class ParticipantQuerySet(models.QuerySet["Participant"]):
    """`cutoff` is that of the study: participants last seen before it have abandoned the session."""

    def with_token(self, token: str) -> ParticipantQuerySet:
        return self.filter(token_digest=digest_of(token))

    def with_study(self) -> ParticipantQuerySet:
        return self.select_related("study__dataset").defer("study__dataset__insight")

    def visible_to(self, user: Any) -> ParticipantQuerySet:
        return self.filter(study__in=Study.objects.visible_to(user).values("pk"))

    def live(self) -> ParticipantQuerySet:
        """Those who count for places and assignment: no pilot, no preview, no bot."""
        return self.filter(purpose=Participant.Purpose.LIVE)

    def counted(self, purpose: str = "live") -> ParticipantQuerySet:
        """Those whose results count: live, or of another kind that is looked at, and not excluded."""
        return self.filter(purpose=purpose, is_excluded=False)

    def completed(self) -> ParticipantQuerySet:
        return self.filter(stage=Participant.Stage.DONE)

    def under_way(self) -> ParticipantQuerySet:
        return self.exclude(stage__in=Participant.ENDS)

    def overdue(self, cutoff: datetime) -> ParticipantQuerySet:
        return self.under_way().filter(last_seen_at__lt=cutoff)

    def occupying(self, cutoff: datetime) -> ParticipantQuerySet:
        """Those who take up a place: finished, or taking part now."""
        taking_part = ~Q(stage__in=Participant.ENDS) & Q(last_seen_at__gte=cutoff)
        return self.filter(taking_part | Q(stage=Participant.Stage.DONE))


class Participant(models.Model):
    """One person in one study. The stages leave their results here, and meet nowhere else."""

    class Stage(models.TextChoices):
        """The built-in stages and the terminal states. Other stages in JEDI_STAGES are stored under their own names."""

        CONSENT = "consent", "consent"
        MEMORY = "memory", "memory test"
        TEACHING = "teaching", "teaching"
        EVALUATION = "evaluation", "evaluation"
        DONE = "done", "done"
        DECLINED = "declined", "declined"
        ABANDONED = "abandoned", "abandoned"
        WITHDRAWN = "withdrawn", "withdrawn"

    class Purpose(models.TextChoices):
        """What a session is for. Only live ones count, anywhere."""

        LIVE = "live", "live"
        PILOT = "pilot", "pilot"
        PREVIEW = "preview", "preview"
        REHEARSAL = "rehearsal", "rehearsal with bots"

    class Recruiter(models.TextChoices):
        NONE = "", "none (anonymous link)"
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Mechanical Turk"

    # The study's setting for each.
    RETURN_LINKS: ClassVar[dict[str, str]] = {
        Recruiter.NONE: "return_url",
        Recruiter.PROLIFIC: "prolific_return_url",
        Recruiter.MTURK: "mturk_return_url",
    }

    # Everybody else is in one of the stages that the settings name.
    ENDS = (Stage.DONE, Stage.DECLINED, Stage.ABANDONED, Stage.WITHDRAWN)

    study = models.ForeignKey(Study, models.PROTECT, related_name="participants")
    version = models.ForeignKey(StudyVersion, models.PROTECT, related_name="participants")
    software_version = models.CharField(max_length=40, blank=True)
    purpose = models.CharField(max_length=10, choices=Purpose, default=Purpose.LIVE)
    is_excluded = models.BooleanField(
        "excluded", default=False, editable=False, help_text="A researcher's decision."
    )
    code = models.CharField(max_length=9, unique=True, default=new_code, editable=False)
    # Random, so that the unique constraint holds for rows without a link.
    token_digest = models.CharField(
        max_length=64, unique=True, default=new_token, editable=False, help_text="Of the link."
    )
    seed = models.BigIntegerField(default=new_seed, editable=False)

    recruiter = models.CharField(max_length=10, choices=Recruiter, blank=True)
    external_id = models.CharField(max_length=120, blank=True)
    external_study = models.CharField(max_length=120, blank=True)
    external_session = models.CharField(max_length=120, blank=True)
    submit_to = models.CharField(
        max_length=80, blank=True, help_text="Where Mechanical Turk takes the finished task."
    )

    stage = models.CharField(max_length=10, choices=Stage, default=Stage.CONSENT, db_index=True)
    position = models.PositiveIntegerField(default=1, help_text="The number of the current task.")
    chain_head = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="The head of the chain of answers (studies/chain.py).",
    )
    roster_number = models.PositiveIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="The number among all who ever joined the study, from 1 (studies/chain.py).",
    )
    seal = models.CharField(
        max_length=90,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="A keyed digest of the results (studies/chain.py).",
    )
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    consented_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    memory_lengths = models.JSONField(default=list, blank=True)
    memory_span = models.FloatField("n̄", null=True, blank=True)
    beta = models.FloatField("β", null=True, blank=True)
    beta_mapping = models.CharField(max_length=10, choices=BetaMapping, blank=True)
    beta_inputs = models.JSONField(
        default=dict, blank=True, help_text="The numbers by which n̄ was shrunken."
    )
    ticket = models.PositiveIntegerField(null=True, blank=True)
    arm = models.CharField(max_length=20, blank=True)
    teaching_steps = models.PositiveSmallIntegerField(null=True, blank=True)
    beta_fitted = models.FloatField("β of the answers", null=True, blank=True)
    beta_fitted_low = models.FloatField(null=True, blank=True)
    beta_fitted_high = models.FloatField(null=True, blank=True)
    beta_likelihood = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of the answers of the teaching, by β and learning rate (teaching/decay.py).",
    )
    teaching_started_at = models.DateTimeField(null=True, blank=True)
    evaluation_started_at = models.DateTimeField(null=True, blank=True)
    unique_examples = models.PositiveSmallIntegerField(null=True, blank=True)
    first_seen_accuracy = models.FloatField(null=True, blank=True)
    evaluation_accuracy = models.FloatField(null=True, blank=True)
    evaluation_macro_recall = models.FloatField(null=True, blank=True)
    evaluation_kappa = models.FloatField("κ", null=True, blank=True)
    teaching_gain = models.FloatField(null=True, blank=True)

    # The hash of the version, if the row was read for a step (studies/sessions.py).
    version_hash: str

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["study", "purpose", "stage", "arm"], name="participants_by_arm")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "purpose", "recruiter", "external_id"],
                condition=~Q(external_id=""),
                name="one_session_per_external_id",
            ),
            models.UniqueConstraint(
                fields=["study", "ticket"],
                condition=Q(purpose="live"),
                name="one_participant_per_ticket",
            ),
            models.UniqueConstraint(
                fields=["study", "roster_number"], name="one_participant_per_roster_number"
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("session", args=[self.token])

    def get_stage_display(self) -> str:  # type: ignore[no-redef]
        """What researchers read, for a stage of a study's own too."""
        from .. import stages

        known = dict(self.Stage.choices).get(self.stage)
        return known or stages.labels().get(self.stage, self.stage)

    @cached_property
    def token(self) -> str:
        """The secret of the link. Whoever comes by the link brings it along; for others it follows from the server's
        key, unless that has changed since: then it is a new one, to be kept when they come back."""
        tokens = session_tokens(f"{self.code} {self.seed}")
        return next((one for one in tokens if digest_of(one) == self.token_digest), tokens[0])

    def with_link(self, token: str) -> Self:
        """Remember the token that this participant came with."""
        self.token = token
        return self

    @property
    def is_token_kept(self) -> bool:
        return digest_of(self.token) == self.token_digest

    @cached_property
    def study_as_joined(self) -> Study:
        """The study as it was when this participant joined."""
        if self.version_id == self.study.current_version_id:
            return self.study
        return self.study.as_of(self.version)

    @property
    def is_under_way(self) -> bool:
        return self.stage not in self.ENDS

    @property
    def has_expired(self) -> bool:
        if self.stage == self.Stage.ABANDONED:
            return True
        age = timezone.now() - self.last_seen_at
        return self.is_under_way and age > timedelta(hours=self.study.session_hours)

    @property
    def classes(self) -> list[str]:
        """The class names in the order of this participant's buttons, which the seeds determine."""
        names = self.study_as_joined.dataset.class_names
        if len(names) == MIN_CLASSES:
            return names if self.seed % 2 else names[::-1]
        # Bits and fractions of a seed are the same in every version of NumPy; its permutations may not be.
        places = self.generator("classes", 0).random(len(names)).argsort()
        return [names[place] for place in places]

    def generator(self, purpose: str, number: int) -> np.random.Generator:
        """A fresh generator for one repeatable draw, seeded by study, participant, purpose and number."""
        # NumPy takes a moment to load, and management commands start without it.
        import numpy as np

        purpose_number = zlib.crc32(purpose.encode())
        return np.random.default_rng([self.study_as_joined.seed, self.seed, purpose_number, number])

    @property
    def return_url(self) -> str | None:
        """The link back to this participant's recruiter with the ids filled in, each made safe for an address."""
        values = self.recruitment_parameters() | {"code": self.study.completion_code}
        link: str = getattr(self.study, self.RETURN_LINKS[self.recruiter])
        for name, value in values.items():
            link = link.replace("{" + name + "}", quote(value, safe=""))
        return link or None

    @property
    def submission(self) -> dict[str, Any] | None:
        """The form that hands a finished task to Mechanical Turk; it wants a field beside the assignment's id."""
        if not self.submit_to or not self.external_session:
            return None
        fields = {"assignmentId": self.external_session, "participant": self.code}
        return {"url": f"{self.submit_to}/mturk/externalSubmit", "fields": fields}

    def recruitment_parameters(self) -> dict[str, str]:
        names: dict[str, tuple[str, str, str]] = {
            self.Recruiter.PROLIFIC: ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
            self.Recruiter.MTURK: ("workerId", "hitId", "assignmentId"),
        }
        values = (self.external_id, self.external_study, self.external_session)
        return dict(zip(names.get(self.recruiter, ()), values, strict=False))


class RemovedParticipant(models.Model):
    """The signed record that a participant was deleted by the product, not by somebody who edits the database."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="removed_participants")
    number = models.PositiveIntegerField(help_text="The participant's number in the roster.")
    removed_at = models.DateTimeField(default=timezone.now)
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_removal_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.study_id}: participant number {self.number}"


class Task(models.Model):
    """One task of a stage. The row is written before the task is shown, and answered at most once."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="%(class)ss")
    position = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)
    response_ms = models.FloatField(null=True, blank=True)
    digest = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="Of this answer and all before it (studies/chain.py).",
    )

    # The columns that the digest covers: what was asked and answered. They never change afterwards.
    CHAINED: ClassVar[tuple[str, ...]] = ("position", "answered_at", "response_ms")

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

    def set_answer(self, answer: dict[str, Any]) -> None:
        """Take a validated answer. Subclasses store its content."""
        self.answered_at = timezone.now()
        self.response_ms = answer.get("response_ms")

    def has_answer(self, answer: dict[str, Any]) -> bool:
        """Whether this is the content of the stored answer. Times do not count."""
        raise NotImplementedError

    def chained_facts(self) -> list[Any]:
        """What the digest covers besides the columns: facts of other rows that never change either."""
        return []

    @property
    def units_done(self) -> int:
        """How many units of the stage (trials, steps, images) were done before this task."""
        raise NotImplementedError

    @property
    def part_done(self) -> float:
        """How much of the current unit was done before this task, from 0 to 1."""
        return 0.0


AnyLabelTask = TypeVar("AnyLabelTask", bound="LabelTask", covariant=True)


class LabelTaskQuerySet(models.QuerySet[AnyLabelTask]):
    def of(self, participant: Participant) -> Self:
        """A participant's tasks in order, each with its example."""
        return self.filter(participant=participant).select_related("example").order_by("position")


class LabelTask(Task):
    """A task that is answered with a class: one image of teaching or of the evaluation."""

    example = models.ForeignKey(Example, models.PROTECT, related_name="+")
    answer = models.SmallIntegerField(
        null=True, blank=True, help_text="The number of the class chosen."
    )
    is_correct = models.BooleanField(null=True, blank=True)

    CHAINED = (*Task.CHAINED, "example_id", "answer", "is_correct")
    # The column with the number of the image, from 1.
    NUMBER: ClassVar[str]
    # The columns that answering needs, in the order of the fields.
    STEP_COLUMNS: ClassVar[tuple[str, ...]] = (
        "id", "participant_id", "position", "example_id", "answer", "is_correct",
    )  # fmt: skip

    class Meta(Task.Meta):
        abstract = True
        constraints = [
            *Task.Meta.constraints,
            models.CheckConstraint(
                condition=Q(answer__isnull=True) | is_class_number("answer"),
                name="%(class)s_answer",
            ),
        ]

    @property
    def is_answered(self) -> bool:
        return self.answer is not None

    def set_answer(self, answer: dict[str, Any]) -> None:
        super().set_answer(answer)
        self.answer = answer["label"]
        self.is_correct = self.answer == self.example.label

    def has_answer(self, answer: dict[str, Any]) -> bool:
        return bool(self.answer == answer["label"])

    def chained_facts(self) -> list[Any]:
        return [self.example.key, self.example.label]

    @property
    def units_done(self) -> int:
        return int(getattr(self, self.NUMBER)) - 1
