"""Runs one of the paper's experiments and writes a report."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from jobs.sweeps import SweepFailed, add_executor_arguments, executor_of
from reproduction import report, runs
from reproduction.classes import Classes
from reproduction.estimators import Estimators
from reproduction.experiment import BadExperiment, Experiment
from reproduction.humans import Humans
from reproduction.people import People
from reproduction.synthetic import Synthetic
from reproduction.toy import Toy
from studies.software import software_version
from teaching.engine import EngineError

EXPERIMENTS: dict[str, type[Experiment]] = {
    experiment.name: experiment
    for experiment in (Toy, Synthetic, Humans, Estimators, Classes, People)
}


class Command(BaseCommand):
    help = "Runs one of the paper's experiments with simulated learners and reports the paper's numbers beside ours."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="experiment", required=True, metavar="EXPERIMENT")
        for name, experiment in EXPERIMENTS.items():
            one = kinds.add_parser(name, help=experiment.title)
            experiment.add_arguments(one)
            if experiment.has_seeds:
                one.add_argument("--seeds", type=int, help="the number of runs of every condition")
            add_common_arguments(one)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            experiment = EXPERIMENTS[options["experiment"]].from_options(options)
            path = self.run(experiment, options)
        except (BadExperiment, EngineError, SweepFailed) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as interruption:
            raise CommandError(
                "Stopped. Run the same command again to continue from here."
            ) from interruption
        self.stdout.write(f"Report: {path}")

    def run(self, experiment: Experiment, options: dict[str, Any]) -> Path:
        folder = (
            options["output"] or Path(settings.JEDI_DATA_DIR) / "reproduction" / experiment.name
        )
        if options["fresh"]:
            runs.Checkpoint.discard(folder)
        self.stdout.write(f"{experiment.title}. Results are kept in {folder} as they come.")
        experiment = experiment.prepared(folder)
        results = runs.run(experiment, folder, executor_of(options))
        self.stdout.write("All results are there. Making tables and figures of them.")
        finished = report.Report(
            title=experiment.title,
            sections=experiment.report(results),
            settings=experiment.told_settings(),
            software=report.versions(software_version()),
        )
        for table in experiment.in_short(finished.sections):
            self.stdout.write(f"\n{report.as_text(table)}\n")
        return report.write(finished, folder)


def add_common_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="for the report and the data")
    add_executor_arguments(parser)
    parser.add_argument(
        "--fresh", action="store_true", help="discard the results of an earlier run"
    )
