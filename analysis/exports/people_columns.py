"""The columns of a participant, in the teaching gain and in the table of participants."""

from datetime import datetime
from functools import partial

from studies.models import Participant, Study
from teaching.teachers import known_teachers

from .column import LIST, NUMBER, ORIGIN, TEXT, TIME, WHOLE, Column, ColumnKind, Columns


def _memory_length(participant: Participant, trial: int) -> int | None:
    lengths = participant.memory_lengths
    return lengths[trial - 1] if trial <= len(lengths) else None


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 3) if start and end else None


def _status(participant: Participant) -> str:
    """An overdue session counts as abandoned even before it is marked."""
    return Participant.Stage.ABANDONED if participant.has_expired else participant.stage


def _arm_meaning() -> str:
    names = [f"{name} ({teacher.title})" for name, teacher in known_teachers().items()]
    return (
        f"The name of the teacher: {', '.join(names[:-1])} or {names[-1]}. Empty before assignment."
    )


def shrinkage_column(name: str, meaning: str, kind: ColumnKind = NUMBER) -> Column[Participant]:
    """One of the numbers behind a shrunken n̄; empty with the other mappings."""
    key = name.removeprefix("beta_")
    return Column(
        name,
        kind,
        f"{meaning} Only if n̄ was shrunken.",
        lambda participant: participant.beta_inputs.get(key),
    )


WHO: tuple[Column[Participant], ...] = (
    Column("study", TEXT, "The study's link name.", "study.slug"),
    Column(
        "participant",
        TEXT,
        "The participant's code: random, and says nothing about the person.",
        "code",
    ),
    Column(
        "status",
        TEXT,
        "Where the session stands: consent, memory, teaching, evaluation, done, declined, abandoned or withdrawn.",
        _status,
    ),
    Column("arm", TEXT, _arm_meaning),
    Column("ticket", WHOLE, "The participant's number in the round robin, from 0."),
)
RESULTS: tuple[Column[Participant], ...] = (
    Column("memory_span", NUMBER, "n̄: the mean memory length of all trials but the shortest."),
    Column(
        "beta",
        NUMBER,
        "β, the memory decay that the teacher assumed: 1 − 1/n̄, and e⁻¹ when n̄ is 1, unless the study shrinks n̄ "
        "or fixes β.",
    ),
    Column("teaching_steps", WHOLE, "How many images the teacher was meant to show."),
    Column("unique_examples", WHOLE, "How many different images were shown in teaching."),
    Column(
        "first_seen_accuracy",
        NUMBER,
        "Share of correct answers at first presentations in teaching.",
    ),
    Column("evaluation_accuracy", NUMBER, "Share of correct answers in the evaluation."),
    Column("teaching_gain", NUMBER, "evaluation_accuracy − first_seen_accuracy."),
    Column("joined_at", TIME, "When the session was created.", "created_at"),
    Column("consented_at", TIME, "When the worker gave consent."),
    Column("teaching_started_at", TIME, "When the first teaching image was chosen."),
    Column("evaluation_started_at", TIME, "When the evaluation images were drawn."),
    Column("finished_at", TIME, "When the session ended."),
    Column(
        "duration_s",
        NUMBER,
        "Seconds from consent to the end.",
        lambda p: _seconds(p.consented_at, p.finished_at),
    ),
)
CORRECTED: tuple[Column[Participant], ...] = (
    Column(
        "evaluation_macro_recall",
        NUMBER,
        "Mean over the classes of the share of correct answers. The test has equally many images of each class, so "
        "it equals evaluation_accuracy.",
    ),
    Column(
        "evaluation_kappa",
        NUMBER,
        "κ = (evaluation_accuracy − 1/k)/(1 − 1/k) with k classes: 0 for guessing, 1 for no error.",
    ),
)
DECAY: tuple[Column[Participant], ...] = (
    Column(
        "beta_mapping",
        TEXT,
        "How β came from the memory test: paper (1 − 1/n̄), shrunken (1 − 1/beta_shrunken_span) or fixed by the study. "
        "Empty before the end of the memory test.",
    ),
    Column(
        "beta_fitted",
        NUMBER,
        "The β of the paper's learner by the answers of the teaching alone: the mean of 0 to 0.95 by how probable each "
        "makes them, whatever the learning rate. One person's is uncertain and leans towards the middle of the range: "
        "do not average it over people. Empty before the end of the teaching.",
    ),
    Column(
        "beta_fitted_low",
        NUMBER,
        "From here to beta_fitted_high β lies with a probability of 95 % by those answers; from 0 to 0.95 if they say "
        "nothing.",
    ),
    Column("beta_fitted_high", NUMBER, "The upper end of that interval."),
    shrinkage_column("beta_people", "How many people n̄ was shrunken by, besides the prior.", WHOLE),
    shrinkage_column("beta_mean", "μ, the mean of n̄ over those people and the prior."),
    shrinkage_column(
        "beta_within", "W, the variance of a trial's memory length about its person's mean."
    ),
    shrinkage_column("beta_between", "B, the variance of n̄ between people beyond its uncertainty."),
    shrinkage_column(
        "beta_weight",
        "B/(B + c·W), where c is 0.3899 for three trials: the share of the distance n̄ − μ that is kept.",
    ),
    shrinkage_column("beta_shrunken_span", "beta_mean + beta_weight·(memory_span − beta_mean)."),
)
SETTING: tuple[Column[Participant], ...] = (
    Column("last_seen_at", TIME, "When the worker was last seen."),
    Column(
        "chain_head",
        TEXT,
        "The head of the chain of this participant's answers, by which `manage.py verify_log` finds a change.",
    ),
    Column("first_button", TEXT, "The class on the first button.", lambda p: p.classes[0]),
    Column("buttons", LIST, "The classes in the order of the buttons.", lambda p: p.classes),
    Column("study_title", TEXT, "The study's title.", "study.title"),
    Column("study_seed", WHOLE, "The study's seed.", "study_as_joined.seed"),
    Column("dataset", TEXT, "The name of the data set.", "study_as_joined.dataset.name"),
    Column(
        "dataset_version",
        WHOLE,
        "The version of the data set; a version of a data set never changes.",
        "study_as_joined.dataset.version",
    ),
    Column(
        "recruiter",
        TEXT,
        "The recruitment platform the worker came from: prolific, mturk, or empty for the plain link.",
    ),
)
RECRUITMENT: tuple[Column[Participant], ...] = (
    Column("external_id", TEXT, "The worker's id on the recruitment platform.", identifiable=True),
    Column("external_study", TEXT, "The platform's id for the study or HIT.", identifiable=True),
    Column(
        "external_session",
        TEXT,
        "The platform's id for the session or assignment.",
        identifiable=True,
    ),
)


def gain_columns(study: Study) -> Columns:
    """The columns of the teaching gain, with one memory length for each trial that a version had."""
    trials = tuple(
        Column[Participant](
            f"memory_length_{trial}",
            WHOLE,
            f"Memory length of trial {trial}: the largest number of images restored in order.",
            partial(_memory_length, trial=trial),
        )
        for trial in range(1, study.most_memory_trials + 1)
    )
    return (*WHO, *trials, *RESULTS, *ORIGIN)


def participant_columns(study: Study) -> Columns:
    return (*gain_columns(study), *CORRECTED, *DECAY, *SETTING, *RECRUITMENT)
