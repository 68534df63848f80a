"""Lets bots that learn and forget take part in a study, before people do, or forecasts what workers will learn."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.progress import progress_bar
from rehearsal.models import Rehearsal
from rehearsal.services import run
from studies.management import study_named


class Command(BaseCommand):
    help = (
        "Takes simulated workers through a study, using the API of a running server. "
        "Their sessions are marked as a rehearsal and are left out of all results. With --forecast, no server takes "
        "part: simulated workers meet every teacher, and the study's rehearsal page shows what came out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's link name")
        parser.add_argument("--workers", type=int, default=40)
        parser.add_argument(
            "--url", default="", help="the server (default: the one on this machine)"
        )
        parser.add_argument(
            "--think", action="store_true", help="look and think as long as people would"
        )
        parser.add_argument(
            "--seed", type=int, help="the seed of an earlier run, to repeat the same bots"
        )
        parser.add_argument(
            "--forecast", action="store_true", help="simulate by the engine alone, without a server"
        )
        parser.add_argument(
            "--processes", type=int, default=2, help="of a forecast, on this machine (2)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        if options["workers"] < 1:
            raise CommandError("--workers takes a number of 1 or more.")
        rehearsal = Rehearsal(study=study, workers=options["workers"], is_paced=options["think"])
        if options["forecast"]:
            rehearsal.kind = Rehearsal.Kind.FORECAST
        if options["seed"] is not None:
            rehearsal.seed = options["seed"]
        rehearsal.save()
        self.run(rehearsal, options)
        if rehearsal.state == Rehearsal.State.FAILED:
            raise CommandError(rehearsal.problem)
        self.stdout.write(outcome_of(rehearsal))

    def run(self, rehearsal: Rehearsal, options: dict[str, Any]) -> None:
        with progress_bar(rehearsal.workers) as bar:
            try:
                run(
                    rehearsal,
                    address=options["url"],
                    processes=options["processes"],
                    progress=lambda _: bar.update(),
                )
            except KeyboardInterrupt as interruption:
                # No background worker should resume what was stopped on purpose.
                problem = "Stopped from the command line."
                rehearsal.report(state=Rehearsal.State.FAILED, problem=problem)
                raise CommandError(problem) from interruption


def outcome_of(rehearsal: Rehearsal) -> str:
    if rehearsal.kind == Rehearsal.Kind.FORECAST:
        return f"{rehearsal.finished} simulated. The study's rehearsal page shows what to expect."
    return f"{rehearsal.finished} finished, {rehearsal.left} dropped out."
