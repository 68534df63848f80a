"""Checks the chains of answers."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies import chain
from studies.commands import study_named
from studies.models import Participant, ParticipantQuerySet


class Command(BaseCommand):
    help = "Finds every answer that was changed, removed, inserted or moved since it was given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", help="only this study, by its link name")
        parser.add_argument("--participant", help="only this participant, by code")

    def handle(self, *args: Any, **options: Any) -> None:
        people = linked = earlier = damaged = 0
        for participant in chosen(options["study"], options["participant"]).iterator():
            found = chain.check(participant)
            people, linked = people + 1, linked + found.linked
            earlier, damaged = earlier + found.earlier, damaged + bool(found.findings)
            for finding in found.findings:
                self.stdout.write(f"{participant.code}  {finding}")
        if damaged:
            raise CommandError(f"{damaged} of {people} participants have answers that do not fit.")
        before = f" {earlier} are from before the chain and cannot be checked." if earlier else ""
        self.stdout.write(
            f"All {linked} answers of {people} participants are as they were given.{before}"
        )


def chosen(study: str | None, code: str | None) -> ParticipantQuerySet:
    people = Participant.objects.order_by("pk")
    if study:
        people = people.filter(study=study_named(study))
    if code:
        people = people.filter(code=code.upper())
        if not people.exists():
            raise CommandError(f"There is no participant {code!r}. The admin lists the codes.")
    return people
