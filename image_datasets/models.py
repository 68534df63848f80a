"""Imports: background jobs that make data sets from a researcher's images."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Concat
from django.utils import timezone

from jobs.models import Job, JobQuerySet
from studies.keys import new_key, new_seed
from studies.models import Dataset

from .remedy import MAX_BORDER, MAX_CROP, REMEDY_FIELDS, Remedy

if TYPE_CHECKING:
    from django_tasks.base import Task

# How long the files of an import that failed, was cancelled or waits for a choice are kept.
FILES_KEPT = timedelta(days=30)


def _share(verbose_name: str, help_text: str) -> models.PositiveSmallIntegerField[Any, Any]:
    """A percentage of the width or height that is cropped."""
    return models.PositiveSmallIntegerField(
        verbose_name, default=0, validators=[MaxValueValidator(MAX_CROP)], help_text=help_text
    )


class ImportQuerySet(JobQuerySet["Import"]):
    def visible_to(self, user: Any) -> ImportQuerySet:
        """The user's own imports; all imports for superusers."""
        return self if user.is_superuser else self.filter(created_by=user.pk)

    def stopped(self) -> ImportQuerySet:
        """Imports that can be resumed."""
        ended = self.filter(state__in=[Import.State.FAILED, Import.State.CANCELLED])
        return ended | self.orphaned()

    def idle(self) -> ImportQuerySet:
        """Unfinished imports that no worker is working on."""
        unclaimed = self.filter(state__in=[Import.State.WAITING, Import.State.CHOOSING])
        return unclaimed | self.orphaned()

    def outdated(self) -> ImportQuerySet:
        """Stopped or undecided imports whose files are due for deletion."""
        since = timezone.now() - FILES_KEPT
        return self.filter(state__in=Import.KEEPS_FILES).filter(
            Q(heartbeat_at__lt=since) | Q(heartbeat_at=None, created_at__lt=since)
        )


class Import(Job):
    """One import: its source, the researcher's settings, and its progress."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        CHOOSING = "choosing", "waiting for your choice of features"
        DONE = "done", "done"
        FAILED = "failed", "stopped by a problem"
        CANCELLED = "cancelled", "cancelled"
        EXPIRED = "expired", "ended: its files were deleted"

    class Duplicates(models.TextChoices):
        KEEP_TOGETHER = "keep_together", "keep them together on one side of the split"
        REFUSE = "refuse", "refuse the import and list them"

    class Border(models.TextChoices):
        LEFT_ALONE = "", "leave as it is"
        MASK = "mask", "mask it with grey"
        BLUR = "blur", "blur it"

    BEST = "best"
    FINISHED = (State.DONE, State.FAILED, State.CANCELLED, State.EXPIRED)
    KEEPS_FILES = (State.CHOOSING, State.FAILED, State.CANCELLED)
    GIVEN_UP = (
        "The background worker stopped three times during this import, so it was given up. The server may have too "
        "little memory for it: look into the server's log, then try again, or import fewer images."
    )
    ON_GIVING_UP = {"step": ""}

    name = models.CharField(
        "name of the data set",
        max_length=100,
        help_text="A name that is in use already gets a new version.",
    )
    source = models.CharField(max_length=1000, editable=False)
    file_name = models.CharField(max_length=200, blank=True, editable=False)
    key = models.CharField(max_length=24, unique=True, default=new_key, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    only_classes = models.JSONField(
        "teach only these classes",
        default=list,
        blank=True,
        help_text="The names of folders or labels, one on each line. Empty: all of them.",
    )
    evaluation_per_class = models.PositiveIntegerField(
        "evaluation images of each class",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The rest of the images make the teaching pool. Empty: the paper's 50, or half of the smaller "
        "class if it is small. A manifest with a split column decides this itself.",
    )
    duplicates = models.CharField(
        "duplicates across the split",
        max_length=15,
        choices=Duplicates,
        default=Duplicates.KEEP_TOGETHER,
    )
    skips_bad_images = models.BooleanField(
        "skip bad images",
        default=False,
        help_text="Images that cannot be read are listed and left out, instead of stopping the import.",
    )
    crop_left = _share("cut off at the left", "Per cent of the width.")
    crop_top = _share("cut off at the top", "Per cent of the height.")
    crop_right = _share("cut off at the right", "Per cent of the width.")
    crop_bottom = _share("cut off at the bottom", "Per cent of the height.")
    crops_to_square = models.BooleanField(
        "crop to a square",
        default=False,
        help_text="The largest square in the middle: all images have one shape.",
    )
    border = models.CharField(
        max_length=5,
        choices=Border,
        blank=True,
        default="",
        help_text="A mask hides what is there; a blur leaves its colour.",
    )
    border_width = models.PositiveSmallIntegerField(
        "width of the border",
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_BORDER)],
        help_text="Per cent of the width and of the height, if the border is masked or blurred.",
    )
    equalises_brightness = models.BooleanField(
        "equalise brightness",
        default=False,
        help_text="Every image gets the same mean brightness and the same contrast.",
    )
    extractor = models.CharField(
        "features",
        max_length=20,
        blank=True,
        default="",
        help_text="Empty: you choose when the accuracies are known.",
    )
    seed = models.BigIntegerField(default=new_seed)

    state = models.CharField(max_length=10, choices=State, default=State.WAITING, editable=False)
    step = models.CharField(max_length=200, blank=True, editable=False)
    progress = models.FloatField(default=0.0, editable=False)
    log = models.TextField(blank=True, editable=False)
    findings = models.JSONField(default=dict, blank=True, editable=False)
    cancel_requested = models.BooleanField(default=False, editable=False)
    dataset = models.ForeignKey(
        Dataset, models.SET_NULL, null=True, blank=True, editable=False, related_name="imports"
    )

    objects = ImportQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.get_state_display()})"

    @property
    def folder(self) -> Path:
        """Prepared images and everything else that a resumed import needs."""
        return Path(settings.JEDI_DATA_DIR) / "imports" / self.key

    @property
    def remedy(self) -> Remedy:
        return Remedy(**{name: getattr(self, name) for name in REMEDY_FIELDS})

    def pictures(self, remedy: Remedy) -> Path:
        """The folder of the prepared images under a remedy, named by their index in the source."""
        return self.folder / (f"images-{remedy.key}" if remedy else "images")

    @property
    def kept_until(self) -> datetime | None:
        """When the files are due for deletion; None while they are needed and after they were deleted."""
        is_kept = self.state in self.KEEPS_FILES
        return (self.heartbeat_at or self.created_at) + FILES_KEPT if is_kept else None

    @property
    def is_finished(self) -> bool:
        return self.state in self.FINISHED

    @classmethod
    def task(cls) -> Task[[int], None]:
        from .tasks import work_on_import

        return work_on_import

    def note(self, line: str) -> None:
        """Append a line to the log, in the database, so that concurrent lines are not lost."""
        text = f"{timezone.now():%H:%M:%S}  {line}\n"
        Import.objects.filter(pk=self.pk).update(log=Concat("log", models.Value(text)))
        self.log += text
