"""Sessions in the middle of teaching, made without HTTP."""

from typing import Any

from studies.models import Dataset, Participant
from teaching.choice import choose_step, history_of
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_participant, make_study


def taught_by(
    arm: str, answers: int = 9, *, dataset: Dataset | None = None, **settings: Any
) -> Participant:
    """Somebody with β = ¾ who is right two times out of three, the next image open; always the same one."""
    study = make_study(
        dataset=dataset or make_dataset(teaching=16, evaluation=6), arms=arm, **settings
    )
    participant = make_participant(study)
    participant.arm, participant.beta, participant.seed = arm, 0.75, 5
    participant.save()
    steps: list[TeachingStep] = []
    for number in range(answers + 1):
        steps.append(choose_step(participant, number + 1, history_of(steps)))
        if number < answers:
            label = steps[-1].example.label
            answer = label if number % 3 else 1 - label
            steps[-1].set_answer({"label": answer, "response_ms": 800.0})
        steps[-1].save()
    return participant
