"""The registry of columns: which of them each table has, in order."""

from studies.models import Participant, Study

from .column import WHOLE, Column, Columns, origin
from .people_columns import RECRUITMENT, RESULTS, SETTING, WHO, memory_length
from .task_columns import (
    CHECK,
    CHOICE,
    EVENT,
    IMAGE_AND_ANSWER,
    ITEM,
    ORIGIN,
    ROUND,
    STEP,
    TASK_TIMES,
    WHOSE,
)


def gain_columns(study: Study) -> Columns:
    """The columns of the teaching gain, with one memory length for each trial that a version had."""
    trials = tuple(
        Column[Participant](
            f"memory_length_{trial}",
            WHOLE,
            f"Memory length of trial {trial}: the largest number of images restored in order.",
            lambda participant, trial=trial: memory_length(participant, trial),  # type: ignore[misc]
        )
        for trial in range(1, study.most_memory_trials + 1)
    )
    return (*WHO, *trials, *RESULTS, *origin())


def participant_columns(study: Study) -> Columns:
    return (*gain_columns(study), *SETTING, *RECRUITMENT)


def teaching_columns(study: Study) -> Columns:
    return (*WHOSE, *STEP, *IMAGE_AND_ANSWER, *CHOICE, *TASK_TIMES, *ORIGIN)


def evaluation_columns(study: Study) -> Columns:
    return (*WHOSE, *ITEM, *IMAGE_AND_ANSWER, *CHECK, *TASK_TIMES, *ORIGIN)


def memory_columns(study: Study) -> Columns:
    return (*WHOSE, *ROUND, *TASK_TIMES, *ORIGIN)


def event_columns(study: Study) -> Columns:
    return (*WHOSE, *EVENT, *ORIGIN)
