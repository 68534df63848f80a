"""Replays the teacher's choices of one session and says whether they match."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.models import Participant
from teaching.engine import EngineError
from teaching.services import ReplayedStep, replay


class Command(BaseCommand):
    help = "Recomputes the choices of a participant's teacher from the stored history and compares them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("participant", help="the participant's code, for example K7QF-2MXD")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = Participant.objects.with_study()
        participant = rows.filter(code=options["participant"].upper()).first()
        if participant is None:
            raise CommandError(
                f"There is no participant {options['participant']!r}. The admin lists the codes."
            )
        try:
            steps = replay(participant)
        except EngineError as refusal:
            raise CommandError(f"{participant.code} cannot be replayed: {refusal}") from refusal
        if not steps:
            raise CommandError(
                f"{participant.code} has not reached teaching: there is nothing to replay."
            )
        for step in steps:
            self.stdout.write(describe(step))
        wrong = sum(not step.matches for step in steps)
        if wrong:
            raise CommandError(f"{wrong} of {len(steps)} choices differ from the stored ones.")
        self.stdout.write(
            f"{participant.code} ({participant.arm}): all {len(steps)} choices match."
        )


def describe(step: ReplayedStep) -> str:
    stored = step.stored
    now = f"DIFFERS: now image {step.choice.example}, {beliefs(step.choice.probabilities)}"
    then = f"step {stored.step:>3}  image {stored.example.pool_index:>5}  {beliefs(stored.probabilities)}"
    if stored.learner_kind:
        then += f"  {stored.learner_kind} {stored.learner_kind_p:.6f}"
    return f"{then}  {'same' if step.matches else now}"


def beliefs(probabilities: Sequence[float]) -> str:
    """Of two classes p alone, of more the probability of each."""
    shown = probabilities[1:] if len(probabilities) == 2 else probabilities
    return " ".join(["p", *(f"{one:.6f}" for one in shown)])
