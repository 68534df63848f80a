"""Checks the answers, the results and the participants of studies against what the server signed."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.management import study_named
from studies.models import Participant, ParticipantQuerySet, Study
from studies.verification import check_participant, check_roster


class Command(BaseCommand):
    help = "Finds answers, results and participants that were changed, removed, inserted or moved in the database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", help="only this study, by its link name")
        parser.add_argument("--participant", help="only this participant, by code")

    def handle(
        self, *args: Any, study: str | None, participant: str | None, **options: Any
    ) -> None:
        studies = Study.objects.filter(pk=study_named(study).pk) if study else Study.objects.all()
        people = linked = earlier = unsealed = damaged = 0
        for person in chosen(study, participant).select_related("study").iterator():
            found = check_participant(person)
            people, linked = people + 1, linked + found.linked
            earlier, damaged = earlier + found.earlier, damaged + bool(found.findings)
            unsealed += not found.is_sealed
            for finding in found.findings:
                self.stdout.write(f"{person.code}  {finding}")
        gaps = 0
        for row in studies.order_by("pk") if not participant else ():
            for finding in check_roster(row):
                gaps += 1
                self.stdout.write(f"Study {row.slug}: {finding}")
        problems = []
        if damaged:
            problems.append(
                f"{damaged} of {people} participants have answers or results that do not fit."
            )
        if gaps:
            problems.append(f"{gaps} findings concern participants who are gone.")
        if problems:
            raise CommandError(" ".join(problems))
        before = f" {earlier} are from before the chain and cannot be checked." if earlier else ""
        after = (
            f" The results of {unsealed} were stored by a server of an earlier release and cannot be checked."
            if unsealed
            else ""
        )
        self.stdout.write(
            f"All {linked} answers of {people} participants are as they were given.{before}{after}"
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
