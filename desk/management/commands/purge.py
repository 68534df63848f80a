"""Delete data of participants. A daily `purge --older-than` implements a retention period."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk.privacy import PurgeRefused, people_before, people_of_study, purge_people
from studies import audit
from studies.models import Participant, ParticipantQuerySet, Study


class Command(BaseCommand):
    help = "Deletes everything about one participant, everybody in a study, or everybody last seen long ago."

    def add_arguments(self, parser: ArgumentParser) -> None:
        whom = parser.add_mutually_exclusive_group(required=True)
        whom.add_argument("--participant", metavar="CODE", help="one participant, by code")
        whom.add_argument("--study", metavar="SLUG", help="everybody in a study that is not open")
        whom.add_argument(
            "--older-than",
            metavar="DAYS",
            type=int,
            help="everybody, in all studies, who was last seen at least this many days ago",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="only print how many participants would be deleted",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            people, why = self.chosen(options)
        except PurgeRefused as error:
            raise CommandError(str(error)) from error
        if options["dry_run"]:
            self.stdout.write(f"Participants who would be deleted: {people.count()}")
            return
        number = purge_people(people, why=why, actor=audit.SHELL)
        self.stdout.write(f"Participants deleted, with all their data: {number}")

    def chosen(self, options: dict[str, Any]) -> tuple[ParticipantQuerySet, str]:
        if code := options["participant"]:
            people = Participant.objects.filter(code=code)
            if not people.exists():
                raise CommandError(f"There is no participant {code}.")
            return people, f"by code {code}"
        if slug := options["study"]:
            study = Study.objects.filter(slug=slug).first()
            if study is None:
                raise CommandError(f"There is no study {slug}.")
            return people_of_study(study), "the whole study"
        days = options["older_than"]
        if days < 1:
            raise CommandError("--older-than takes a number of days, 1 or more.")
        return people_before(days), f"older than {days} days"
