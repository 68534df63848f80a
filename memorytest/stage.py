"""Module 1: three trials of restoring the order of pictures, and the β that follows from them."""

import json
from itertools import chain
from typing import NamedTuple

from django.db import connection
from django.db.models import Max
from django.db.models.functions import Greatest
from django.utils import timezone
from rest_framework import serializers

from studies import rows, summary
from studies.errors import InvalidAnswer, NotShown
from studies.image_sides import SMALLEST
from studies.models import BetaMapping, Participant, Study
from studies.seeds import generator
from studies.stages import (
    RESPONSE_MS,
    Current,
    Json,
    Milliseconds,
    Picture,
    Recorded,
    SimulatedPerson,
    Stage,
    Taken,
    TaskChanged,
    Told,
)

from . import pictograms, scoring
from .decay import measure
from .models import PRACTICE, MemoryRound
from .rounds import current_of, round_at

# Written down, because a round is drawn while a worker waits, and to build a query takes longer than to run it.
PICTURES = """
SELECT pictures FROM memorytest_memoryround WHERE participant_id = %s AND trial = %s ORDER BY position
"""


class Plan(NamedTuple):
    """The answered round, and the one that follows it, not yet written; none after the last."""

    answered: MemoryRound
    following: MemoryRound | None


class MemoryStage(Stage):
    name = Participant.Stage.MEMORY
    title = "Memory"
    label = Participant.Stage.MEMORY.label
    unit = "trial"
    units_done = Greatest(Max("trial") - 1, 0)
    tasks = MemoryRound
    answer_fields = {
        "order": serializers.ListField(
            child=serializers.CharField(max_length=60), max_length=20, help_text="memory: image ids"
        ),
        "response_ms": RESPONSE_MS,
        "shown_ms": Milliseconds(
            required=False, help_text="memory: how long the images were really shown"
        ),
    }
    columns = ("memory_lengths", "memory_span", "beta", "beta_mapping", "beta_inputs")
    preview = "The device check, the introduction and the first round."
    script = "js/worker/memory.js"

    def problems_of(self, study: Study) -> dict[str, str]:
        return decay_problems(study) | length_problems(study)

    def begin(self, participant: Participant) -> None:
        study = participant.study_as_joined
        trial = PRACTICE if study.memory_practice else 1
        rows.insert(new_round(participant, participant.position, trial, study.memory_min_length))

    def total(self, participant: Participant) -> int:
        return participant.study_as_joined.memory_trials

    def current(self, participant: Participant) -> Current:
        return current_of(participant, round_at(participant, participant.position))

    def expected_seconds(self, participant: Participant) -> float:
        return summary.memory_seconds(participant.study_as_joined)

    def plan(self, participant: Participant, answer: Json) -> Plan:
        """Takes the answer and draws the pictures that come next, all before the transaction."""
        this = round_at(participant, participant.position)
        if this.exposed_at is None:
            raise NotShown
        if sorted(answer["order"]) != sorted(this.pictures):
            problem = "Name each of this round's images exactly once."
            raise InvalidAnswer(fields={"order": [problem]})
        this.take_answer(answer["order"], answer["shown_ms"], answer["response_ms"])
        coming = next_round(this)
        if coming is None:
            return Plan(this, None)
        return Plan(this, new_round(participant, participant.position + 1, *coming))

    def answered(self, plan: Plan) -> MemoryRound:
        return plan.answered

    def record(self, participant: Participant, answer: Json, plan: Plan) -> Taken:
        if plan.answered.reported_at is None and has_report(plan.answered):
            # How long the pictures were shown is the report's to say.
            raise TaskChanged
        rows.save(plan.answered, MemoryRound.ANSWER_FIELDS)
        if plan.following:
            plan.following.created_at = timezone.now()
            rows.insert(plan.following)
        return Taken(is_last=plan.following is None)

    def tell(self, participant: Participant, plan: Plan) -> Told:
        following = plan.following
        current = current_of(participant, following) if following else None
        return Told(plan.answered.feedback(), current)

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        this = MemoryRound.objects.filter(
            participant=participant, position=position, answered_at__isnull=False
        ).first()
        if this is None:
            return None
        this.participant = participant
        return Recorded({"order": this.restored}, this.feedback())

    def finish(self, participant: Participant) -> None:
        study = participant.study_as_joined
        played = MemoryRound.objects.counted().filter(participant=participant).order_by("position")
        rounds = list(played.values_list("trial", "length", "is_correct"))
        lengths = [
            scoring.memory_length(
                [(n, bool(right)) for t, n, right in rounds if t == trial], study.memory_min_length
            )
            for trial in range(1, study.memory_trials + 1)
        ]
        measure(participant, lengths)

    def skip(self, participant: Participant) -> None:
        study = participant.study_as_joined
        span = min(summary.TYPICAL_SPAN, study.memory_max_length)
        measure(participant, [span] * study.memory_trials, others={})

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        if key not in pictograms.NAMES:
            return None
        rounds = MemoryRound.objects.filter(participant=participant)
        if not any(key in pictures for pictures in rounds.values_list("pictures", flat=True)):
            return None
        return Picture(pictograms.svg(key), "image/svg+xml")

    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        shown_ms = task["exposure_ms"]
        restored, response_ms = person.restore(person.see_order(), task["trial"])
        person.wait(shown_ms + response_ms)
        return {"order": restored, "shown_ms": shown_ms, "response_ms": response_ms}


def has_report(this: MemoryRound) -> bool:
    """Whether it has come by now how the display went."""
    return MemoryRound.objects.filter(pk=this.pk, reported_at__isnull=False).exists()


def length_problems(study: Study) -> dict[str, str]:
    if study.memory_max_length < study.memory_min_length:
        return {"memory_max_length": "The last round cannot have fewer images than the first."}
    needed = sum(range(study.memory_min_length, study.memory_max_length + 1))
    if needed > len(pictograms.NAMES):
        return {
            "memory_max_length": f"A trial of {study.memory_min_length} to {study.memory_max_length} images needs "
            f"{needed} different pictures, and there are {len(pictograms.NAMES)}. Choose a smaller number."
        }
    return {}


def decay_problems(study: Study) -> dict[str, str]:
    beta = study.fixed_beta
    if study.beta_mapping != BetaMapping.FIXED:
        unused = "Only a fixed memory decay has it. Leave it empty, or choose “fixed” above."
        return {} if beta is None else {"fixed_beta": unused}
    if beta is None:
        return {"fixed_beta": "Give the β that every worker gets, from 0 to less than 1."}
    if not 0 <= beta < 1:
        return {"fixed_beta": "β is at least 0 and less than 1: with 1 nothing would ever fade."}
    return {}


def next_round(this: MemoryRound) -> tuple[int, int] | None:
    """The trial and length that follow an answered round; None after the last trial."""
    study = this.participant.study_as_joined
    if this.is_practice:
        return 1, study.memory_min_length
    if not this.ends_trial(study.memory_max_length):
        return this.trial, this.length + 1
    if this.trial < study.memory_trials:
        return this.trial + 1, study.memory_min_length
    return None


def new_round(
    participant: Participant, position: int, trial: int, length: int, repeats: int | None = None
) -> MemoryRound:
    """A round, not yet written: pictures that did not come in its trial yet, and the order in which they come back."""
    rng = generator(participant, "memory", position)
    fresh = fresh_pictures(participant, trial, length)
    pictures = [str(name) for name in rng.choice(fresh, size=length, replace=False)]
    study = participant.study_as_joined
    return MemoryRound(
        participant=participant,
        position=position,
        trial=trial,
        length=length,
        pictures=pictures,
        # Any order may come back, the right one too: leaving it out would give hints for small n.
        shuffled=[str(name) for name in rng.permutation(pictures)],
        exposure_ms=round(1000 * (length + study.memory_extra_seconds)),
        repeats=repeats,
    )


def fresh_pictures(participant: Participant, trial: int, length: int) -> list[str]:
    """Those that did not come in this trial. A trial in which many rounds were played again may use them up: then the
    ones that came longest ago come again."""
    with connection.cursor() as cursor:
        cursor.execute(PICTURES, [participant.pk, trial])
        rounds = [json.loads(pictures) for (pictures,) in cursor]
    for first in range(len(rounds) + 1):
        used = set(chain.from_iterable(rounds[first:]))
        fresh = [name for name in pictograms.NAMES if name not in used]
        if len(fresh) >= length:
            break
    return fresh
