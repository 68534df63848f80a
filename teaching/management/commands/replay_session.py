"""Replays the teacher's choices of one session and says whether they match."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.models import Participant
from teaching.engine import EngineError
from teaching.services import ReplayedStep, replay

# Two numbers that count as different differ in these decimals.
FINE = 10


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
        compared = [step for step in steps if step.is_comparable]
        wrong = sum(not step.matches for step in compared)
        if wrong:
            raise CommandError(f"{wrong} of {len(compared)} choices differ from the stored ones.")
        name = f"{participant.code} ({participant.arm})"
        if compared:
            self.stdout.write(f"{name}: all {len(compared)} choices match.")
        if len(compared) < len(steps):
            self.stdout.write(
                f"{name}: {len(steps) - len(compared)} choices are of an earlier version of the teacher and cannot be "
                f"compared. The session began with software version {participant.software_version or 'unknown'}."
            )


def describe(step: ReplayedStep) -> str:
    stored = step.stored
    then = f"step {stored.step:>3}  image {stored.example.pool_index:>5}  {beliefs(stored.probabilities)}"
    if stored.learner_kind:
        then += f"  {stored.learner_kind} {stored.learner_kind_p:.6f}"
    if not step.is_comparable:
        versions = f"{stored.teacher_version}, this software has {step.choice.teacher_version}"
        return f"{then}  not compared: chosen by version {versions}"
    found = "; ".join(differences(step))
    return f"{then}  {f'DIFFERS: {found}' if found else 'same'}"


def differences(step: ReplayedStep) -> Iterator[str]:
    """What was stored, and what it is now, of everything that differs."""
    stored, choice = step.stored, step.choice
    if not step.is_same_image:
        yield f"image {stored.example.pool_index} is now {choice.example}"
    if not step.is_same_expectation:
        now = beliefs(choice.probabilities, FINE)
        yield f"{beliefs(stored.probabilities, FINE)} is now {now}"
    # Another image has other numbers.
    for name, pair in step.other_numbers.items() if step.is_same_image else ():
        then, now = map(number, pair)
        yield f"{name} {then} is now {now}"
    if not step.is_same_kind:
        kind = f"{stored.learner_kind} {stored.learner_kind_p:.{FINE}f}"
        yield f"kind of learner {kind} is now {kinds_today(step)}"


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:.{FINE}g}"


def kinds_today(step: ReplayedStep) -> str:
    """The likeliest kind, and the stored one if that is another."""
    likeliest = max(step.kinds, key=step.kinds.__getitem__, default="unknown")
    names = dict.fromkeys([likeliest, step.stored.learner_kind])
    return ", ".join(f"{name} {step.kinds.get(name, 0.0):.{FINE}f}" for name in names)


def beliefs(probabilities: Sequence[float], decimals: int = 6) -> str:
    """Of two classes p alone, of more the probability of each."""
    shown = probabilities[1:] if len(probabilities) == 2 else probabilities
    return " ".join(["p", *(f"{one:.{decimals}f}" for one in shown)])
