"""Participants: one person in one study."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Self
from urllib.parse import quote

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from .. import stages
from ..keys import digest_of, new_code, new_seed, new_token, session_tokens
from .datasets import FEWEST_CLASSES
from .settings import BetaMapping
from .studies import Study
from .versions import StudyVersion


class ParticipantQuerySet(models.QuerySet["Participant"]):
    """Questions about many participants; `cutoff` is the study's: unseen since then means abandoned."""

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
        """What the column may hold: the stages that we know by heart, and the ends of a session. Others that
        the settings name are stored under their own names."""

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
    # A row that nobody joined by has a digest of no token at all.
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
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("session", args=[self.token])

    def get_stage_display(self) -> str:  # type: ignore[no-redef]
        """What researchers read, for a stage of a study's own too."""
        known = dict(self.Stage.choices).get(self.stage)
        return known or stages.labels().get(self.stage, self.stage)

    @cached_property
    def token(self) -> str:
        """The secret of the link. Whoever comes by the link brings it along; for others it follows from the server's
        key, unless that has changed since: then it is a new one, to be kept when they come back."""
        tokens = session_tokens(f"{self.code} {self.seed}")
        return next((one for one in tokens if digest_of(one) == self.token_digest), tokens[0])

    def with_link(self, token: str) -> Self:
        """The same participant, who came by this link."""
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
        return self.is_under_way and self.last_seen_at < self.study.cutoff

    @property
    def classes(self) -> list[str]:
        """The class names in the order of this participant's buttons, which the seeds determine."""
        names = self.study_as_joined.dataset.class_names
        if len(names) == FEWEST_CLASSES:
            return names if self.seed % 2 else names[::-1]
        # Numerics take a moment to load, and a server starts without them.
        from ..seeds import generator

        # Bits and fractions of a seed are the same in every version of NumPy; its permutations may not be.
        places = generator(self, "classes", 0).random(len(names)).argsort()
        return [names[place] for place in places]

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
