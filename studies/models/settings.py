"""The settings of a study by subject, with the paper's values as defaults.

To add a setting, add a field to its group: the form, its explanation, versions and their differences follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from ..keys import new_seed

if TYPE_CHECKING:
    from .datasets import Dataset


@dataclass(frozen=True)
class SettingsGroup:
    """What the settings of a group have in common, and those that are exceptions."""

    heading: str
    description: str = ""
    outside_sessions: Set[str] = frozenset()
    """What no session is made of: a change makes no version."""
    harmless: Set[str] = frozenset()
    """What leaves the outcome of a session as it is: versions that differ in it are analysed together."""
    in_the_paper: Mapping[str, Any] = field(default_factory=dict)
    """What the paper has, of settings whose default is something else."""


class StudySettings(models.Model):
    """A group of settings, as fields of a study.

    A field that is added to a group stands at its place in the study form, in the documentation of the settings and
    among the differences between versions; versions that differ in it are kept apart.
    """

    group: ClassVar[SettingsGroup]

    class Meta:
        abstract = True


def names_in(group: type[StudySettings]) -> list[str]:
    """The settings of a group, in the order of the form."""
    return [field.name for field in group._meta.local_fields if field.editable]


def session_names_in(group: type[StudySettings]) -> list[str]:
    """Those that sessions are made of."""
    return [name for name in names_in(group) if name not in group.group.outside_sessions]


def return_link(*names: str) -> RegexValidator:
    """Checks a link to a recruiter, in which these names may stand in braces."""
    filled_in = ", ".join(f"{{{name}}}" for name in names)
    return RegexValidator(
        rf"^https?://([^{{}}]|\{{({'|'.join(names)})\}})*$",
        f"Begin the link with https://. Filled in are only: {filled_in}.",
    )


class ScoreTold(models.TextChoices):
    """When the last page tells how many answers of the evaluation were right."""

    CLOSED = "closed", "when the study has closed"
    AT_ONCE = "at_once", "at once"


class TextSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "What workers read and get",
        "In the order in which workers see it.",
        outside_sessions={
            "contact",
            "score_told",
            "completion_code",
            "return_url",
            "prolific_return_url",
            "mturk_return_url",
        },
        harmless={"welcome", "consent", "minutes", "shows_score"},
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
    contact = models.CharField(
        max_length=200,
        blank=True,
        help_text="Whom workers may write to, for example an e-mail address. Shown on the first page, and wherever a "
        "session ends, beside the worker's code.",
    )
    shows_score = models.BooleanField(
        "show the score",
        default=True,
        help_text="Whether the last page shows the evaluation accuracy.",
    )
    score_told = models.CharField(
        "when the score is told",
        max_length=10,
        choices=ScoreTold,
        default=ScoreTold.CLOSED,
        help_text="Once the study has closed and nobody is taking part any more, the last page shows the score, "
        "also to those who open it again. “At once” gives the labels away: from the scores of a few dozen sessions, "
        "which one person can take through the plain link, the class of every evaluation image can be worked out.",
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
        help_text="Where workers who came by the plain link go from the last page. {code} is the completion code.",
        validators=[return_link("code")],
    )
    prolific_return_url = models.CharField(
        "return link to Prolific",
        max_length=500,
        blank=True,
        help_text="The study's completion link on Prolific. {PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID} and {code} are "
        "filled in.",
        validators=[return_link("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "code")],
    )
    mturk_return_url = models.CharField(
        "return link to Mechanical Turk",
        max_length=500,
        blank=True,
        help_text="Where workers of Mechanical Turk go from the last page. {workerId}, {assignmentId}, {hitId} and "
        "{code} are filled in.",
        validators=[return_link("workerId", "assignmentId", "hitId", "code")],
    )

    class Meta:
        abstract = True


class ParticipationSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Taking part",
        "How many may take part, for how long, and what happens to the answers of those who withdraw.",
        outside_sessions={"max_participants", "target_per_arm", "session_hours"},
        harmless={"on_withdrawal", "seed"},
    )

    class Withdrawal(models.TextChoices):
        DELETE = "delete", "delete everything that the worker did"
        KEEP = "keep", "keep what was answered so far"

    max_participants = models.PositiveIntegerField(
        "places",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The study is full when this many have finished or are taking part. Empty: no limit.",
    )
    target_per_arm = models.PositiveIntegerField(
        "wanted per teacher",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many completed workers you want for each teacher. The monitor shows it; the study stays "
        "open beyond it.",
    )
    session_hours = models.PositiveSmallIntegerField(
        "hours until a session expires",
        default=24,
        validators=[MinValueValidator(1)],
        help_text="A worker who has not been seen for this long counts as having abandoned the session.",
    )
    on_withdrawal = models.CharField(
        "when a worker withdraws",
        max_length=6,
        choices=Withdrawal,
        default=Withdrawal.DELETE,
        help_text="Workers are told this before they confirm.",
    )
    seed = models.BigIntegerField(
        default=new_seed, help_text="Determines every random draw of the study."
    )

    class Meta:
        abstract = True


class PaymentSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Pay",
        "Nobody is paid from here: the Payment page works out who gets the bonus, and makes the files for it.",
        outside_sessions={"reward", "currency", "bonus_share"},
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

    class Meta:
        abstract = True


class BetaMapping(models.TextChoices):
    """How the memory decay β, which teachers assume, comes from the memory test."""

    PAPER = "paper", "as in the paper: 1 − 1/n̄"
    SHRUNKEN = "shrunken", "shrunken: n̄ nearer to the mean"
    FIXED = "fixed", "fixed: the same for everyone"


class MemorySettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Module 1: memory test",
        "Workers see pictures in an order and restore it. How many they can keep in order is n̄, which JEDI adapts to.",
    )

    memory_trials = models.PositiveSmallIntegerField(
        "memory trials",
        default=3,
        validators=[MinValueValidator(2), MaxValueValidator(10)],
        help_text="The shortest is dropped, and n̄ is the mean of the others.",
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
    beta_mapping = models.CharField(
        "memory decay β",
        max_length=10,
        choices=BetaMapping,
        default=BetaMapping.PAPER,
        help_text="How long teachers expect an image to act on. A few trials measure n̄ poorly: “shrunken” moves it "
        "towards the mean of the people who came before, the further the less certain it is. People’s answers have "
        "shown a weak connection between β and memory scores: see “What is known about people” in the documentation.",
    )
    fixed_beta = models.FloatField(
        "fixed β",
        null=True,
        blank=True,
        help_text="From 0 to less than 1, and only if the memory decay is fixed. The memory test takes place all the "
        "same: n̄ is measured and decides how many images JEDI shows, but it is not used for β.",
    )

    class Meta:
        abstract = True


class JediEstimator(models.TextChoices):
    """The belief estimate of the JEDI arm. The stored value of the second is that of earlier releases."""

    PAPER = "paper", "as in the paper: harmonic"
    REGULARISED = "mended", "regularised: guesses, prior, labels told"


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
        "lasting belief and has predicted people no better than a guess; the regularised one accounts for guesses, "
        "all answers and the labels that the worker was told. The other teachers stay as they are. See “What is known "
        "about people” in the documentation.",
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


class EvaluationSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Module 3: evaluation",
        "What was learned, tested on images that are not used for teaching.",
    )

    evaluation_size = models.PositiveSmallIntegerField(
        "evaluation images",
        default=100,
        validators=[MinValueValidator(2)],
        help_text="New images without feedback, equally many of each class, in a different order for each worker.",
    )
    attention_checks = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(10)],
        help_text="Images in the evaluation that say which button to press. They are not scored; "
        "they only measure attention. The paper has none.",
    )

    class Meta:
        abstract = True


class PageSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "The worker’s page",
        "What keeps workers informed and at it. Nothing here ever tells how well the evaluation is going.",
        harmless={"shows_offer", "shows_comparison", "explains_bonus"},
        in_the_paper={
            "shows_offer": False,
            "shows_minutes_left": False,
            "shows_round_progress": False,
            "shows_streak": False,
            "shows_effort": False,
            "offers_breaks": False,
            "shows_comparison": False,
            "explains_bonus": False,
        },
    )

    shows_offer = models.BooleanField(
        "say what is offered",
        default=True,
        help_text="Pay, bonus, number of images, minutes and your contact on the first page.",
    )
    shows_minutes_left = models.BooleanField(
        "show the minutes left", default=True, help_text="In the head of every page."
    )
    shows_round_progress = models.BooleanField(
        "show progress within a trial",
        default=True,
        help_text="The bar of the memory test moves with every round. Otherwise it moves with every trial.",
    )
    shows_streak = models.BooleanField(
        "show score and streak while learning",
        default=True,
        help_text="How many answers of the learning part were right, and how many in a row. Never in the evaluation.",
    )
    shows_effort = models.BooleanField(
        "words of effort in the evaluation",
        default=True,
        help_text="A friendly word after 25, 50 and 75 % of the images. It says nothing about accuracy.",
    )
    offers_breaks = models.BooleanField(
        "offer breaks",
        default=True,
        help_text="Between the modules, and in the middle of the evaluation.",
    )
    shows_comparison = models.BooleanField(
        "compare the score with others",
        default=False,
        help_text="On the last page, beside the score: how many of the others who finished did less well. Nothing is "
        "said before ten have finished.",
    )
    explains_bonus = models.BooleanField(
        "say what happens about the bonus",
        default=True,
        help_text="On the last page: who gets it, and that it comes once the study is complete.",
    )
    answer_keys = models.BooleanField(
        "answer by digits and letters",
        default=True,
        help_text="Each class has a key. Workers can switch the keys off for themselves; arrow keys always work.",
    )

    class Meta:
        abstract = True


class Outcome(models.TextChoices):
    """The values are the names of the participants' columns."""

    GAIN = "teaching_gain", "teaching gain, as in the paper"
    EVALUATION = "evaluation_accuracy", "evaluation accuracy"

    @property
    def heading(self) -> str:
        """As the title of a table or a figure."""
        return self.value.replace("_", " ").capitalize()


class OutcomeSettings(StudySettings):
    group: ClassVar = SettingsGroup("Primary outcome", harmless={"primary_outcome"})

    primary_outcome = models.CharField(
        max_length=20,
        choices=Outcome,
        default=Outcome.GAIN,
        help_text="Results lead with it. The other outcome is shown beside it, as a secondary one.",
    )

    class Meta:
        abstract = True

    def role_of(self, outcome: Outcome) -> str:
        return "primary outcome" if self.primary_outcome == outcome else "secondary outcome"

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All outcomes, the primary one first."""
        primary = Outcome(self.primary_outcome)
        return (primary, *(outcome for outcome in Outcome if outcome != primary))


# In the order of the form.
GROUPS: tuple[type[StudySettings], ...] = (
    TextSettings,
    ParticipationSettings,
    PaymentSettings,
    MemorySettings,
    TeachingSettings,
    EvaluationSettings,
    PageSettings,
    OutcomeSettings,
)
SESSION_SETTINGS = tuple(name for group in GROUPS for name in session_names_in(group))
"""What sessions are made of, beside the images."""
HARMLESS = frozenset(name for group in GROUPS for name in group.group.harmless)
"""Settings that leave the outcome of a session as it is. Any other setting matters, also one that is added later."""
IN_THE_PAPER = {name: value for group in GROUPS for name, value in group.group.in_the_paper.items()}
"""The paper's values that are not the defaults. They are also what such a setting was before it existed."""
