"""What the settings of a study were when somebody joined it."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django.conf import settings
from django.db import models, transaction

from .datasets import Dataset
from .settings import IN_THE_PAPER

if TYPE_CHECKING:
    from .studies import Study


def tidy(text: str) -> str:
    """One kind of line end, so that the same words are the same text.

    Browsers send other line ends than files have, and both may end in blank lines.
    """
    return "\n".join(text.splitlines()).strip()


def configuration_hash(configuration: dict[str, Any]) -> str:
    """One hash for one content, whatever the order in which it was written."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class StudyVersion(models.Model):
    """The settings that sessions are made of, frozen when the first of them began. Never changed."""

    study = models.ForeignKey("studies.Study", models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    configuration = models.JSONField()
    hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_version_per_number")
        ]

    def __str__(self) -> str:
        return f"version {self.number}"

    @classmethod
    def freeze(cls, study: Study) -> StudyVersion:
        """The version that the study's settings are; a new one if they are not the newest's."""
        configuration = study.configuration()
        digest = configuration_hash(configuration)
        newest = study.current_version
        if newest and newest.hash == digest:
            return newest
        number = newest.number + 1 if newest else 1
        version = cls.objects.create(
            study=study, number=number, configuration=configuration, hash=digest
        )
        study.current_version = version
        type(study).objects.filter(pk=study.pk).update(current_version=version)
        return version


class Versioned(models.Model):
    """What a study knows about its own versions."""

    CONFIGURATION: ClassVar[tuple[str, ...]]
    KEPT_BY_THE_SERVER: ClassVar[tuple[str, ...]]
    if TYPE_CHECKING:
        dataset: Any
        effective_learning_rate: Any
        memory_trials: Any
        versions: Any

    current_version = models.ForeignKey(
        StudyVersion, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """A change of what sessions are made of becomes a version of its own, in the same transaction."""
        with transaction.atomic():
            if not self._state.adding:
                options.setdefault("update_fields", self._settable())
            super().save(*args, **options)
            self.refresh_from_db(fields=self.KEPT_BY_THE_SERVER)
            if self.current_version:
                StudyVersion.freeze(cast("Study", self))

    def _settable(self) -> list[str]:
        fields = [field for field in self._meta.concrete_fields if not field.primary_key]
        return [field.name for field in fields if field.name not in self.KEPT_BY_THE_SERVER]

    def configuration(self) -> dict[str, Any]:
        """The settings that sessions are made of, as JSON."""
        values = {name: getattr(self, name) for name in self.CONFIGURATION}
        dataset: Dataset = values["dataset"]
        return values | {
            "dataset": {"key": dataset.key, "name": dataset.name, "version": dataset.version},
            # Written out: who joins is taught with this number, whatever it was taken from.
            "learning_rate": self.effective_learning_rate,
        }

    @property
    def most_memory_trials(self) -> int:
        """Of all versions: files have room for every one's trials."""
        versions = self.versions.all() if self.pk else ()
        return max(
            (int(version.configuration["memory_trials"]) for version in versions),
            default=self.memory_trials,
        )

    @classmethod
    def paper_value_of(cls, name: str) -> Any:
        """As in the paper: the default, unless the setting says otherwise."""
        field: Any = cls._meta.get_field(name)
        return IN_THE_PAPER.get(name, field.get_default())

    @classmethod
    def settings_of(cls, version: StudyVersion) -> dict[str, Any]:
        """What a version says, by field. A setting that it does not know was as in the paper when people joined."""
        known: dict[str, Any] = version.configuration
        unknown = set(cls.CONFIGURATION) - set(known)
        return {name: cls.paper_value_of(name) for name in unknown} | known

    def as_of(self, version: StudyVersion) -> Study:
        """The study with the settings of one of its versions: the study as a participant of that version joined it.

        What no version freezes (title, session hours, closed arms) stays as it is now.
        """
        # Read before the copy is made, so that many versions read it once.
        own_key = self.dataset.key
        study: Any = copy.copy(self)
        for name, value in self.settings_of(version).items():
            if name != "dataset":
                setattr(study, name, value)
            elif value["key"] != own_key:
                datasets = Dataset.objects.using(self._state.db).defer("insight")
                study.dataset = datasets.get(key=value["key"])
        return study  # type: ignore[no-any-return]
