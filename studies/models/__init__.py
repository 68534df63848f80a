"""Who takes part in what: data sets, their examples, studies, participants and their tasks."""

from .datasets import Dataset, Example
from .participants import Participant, ParticipantQuerySet
from .studies import Study
from .tasks import LabelTask, LabelTaskQuerySet, Task

__all__ = [
    "Dataset",
    "Example",
    "LabelTask",
    "LabelTaskQuerySet",
    "Participant",
    "ParticipantQuerySet",
    "Study",
    "Task",
]
