"""Who takes part in what: data sets, their classes and examples, studies, participants and their tasks."""

from .datasets import MAX_CLASSES, MIN_CLASSES, Dataset, DatasetQuerySet, Example, ImageClass
from .events import AuditEntry, SessionEvent
from .sessions import (
    LabelTask,
    LabelTaskQuerySet,
    Participant,
    ParticipantQuerySet,
    RemovedParticipant,
    Task,
    digest_of,
)
from .settings import BetaMapping, Outcome
from .sharing import StudyQuerySet, StudyShare
from .studies import Study
from .versions import StudyVersion

__all__ = [
    "MAX_CLASSES",
    "MIN_CLASSES",
    "AuditEntry",
    "BetaMapping",
    "Dataset",
    "DatasetQuerySet",
    "Example",
    "ImageClass",
    "LabelTask",
    "LabelTaskQuerySet",
    "Outcome",
    "Participant",
    "ParticipantQuerySet",
    "RemovedParticipant",
    "SessionEvent",
    "Study",
    "StudyQuerySet",
    "StudyShare",
    "StudyVersion",
    "Task",
    "digest_of",
]
