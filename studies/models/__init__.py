"""Who takes part in what: data sets, their examples, studies, participants and their tasks."""

from .datasets import Dataset, DatasetQuerySet, Example
from .events import AuditEntry, SessionEvent
from .outcomes import Outcome
from .participants import Participant, ParticipantQuerySet
from .sharing import StudyQuerySet, StudyShare
from .studies import Study
from .tasks import LabelTask, LabelTaskQuerySet, Task
from .versions import StudyVersion

__all__ = [
    "AuditEntry",
    "Dataset",
    "DatasetQuerySet",
    "Example",
    "LabelTask",
    "LabelTaskQuerySet",
    "Outcome",
    "Participant",
    "ParticipantQuerySet",
    "SessionEvent",
    "Study",
    "StudyQuerySet",
    "StudyShare",
    "StudyVersion",
    "Task",
]
