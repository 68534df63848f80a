"""`python -m research`: run an experiment and write its report."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from research import experiment, intervals, recovery, report
from research.classes import Classes
from research.estimators import Estimators
from research.experiment import BadExperiment, Checkpoint, Experiment
from research.humans import Humans
from research.people import People
from research.synthetic import Synthetic
from research.toy import Toy
from teaching.engine import EngineError

ROOT = Path(__file__).resolve().parents[1]
PROCESSES = 2
EXPERIMENTS: dict[str, type[Experiment]] = {
    one.name: one for one in (Toy, Synthetic, Humans, Estimators, Classes, People)
}
# Commands that print a table and keep nothing.
TABLES = {"intervals": intervals, "recovery": recovery}


def parser() -> ArgumentParser:
    made = ArgumentParser(
        prog="python -m research", description="Runs an experiment and writes its report."
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, kind in EXPERIMENTS.items():
        one = commands.add_parser(name, help=kind.title)
        kind.add_arguments(one)
        if kind.has_seeds:
            one.add_argument("--seeds", type=int, help="the number of runs of every condition")
        one.add_argument(
            "--output", type=Path, metavar="FOLDER", help=f"of the report (var/research/{name})"
        )
        where = one.add_mutually_exclusive_group()
        where.add_argument(
            "--processes",
            type=int,
            default=PROCESSES,
            metavar="N",
            help=f"on this machine ({PROCESSES})",
        )
        where.add_argument(
            "--scheduler", metavar="ADDRESS", help="of a Dask cluster to run on instead"
        )
        one.add_argument("--fresh", action="store_true", help="discard the results of earlier runs")
    for name, module in TABLES.items():
        lines = (module.__doc__ or "").splitlines()
        module.add_arguments(commands.add_parser(name, help=lines[0]))
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    try:
        if options.command in TABLES:
            TABLES[options.command].main(options)
        else:
            run(EXPERIMENTS[options.command].from_options(vars(options)), options)
    except (BadExperiment, EngineError) as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        sys.exit("Stopped. Run the same command again to continue.")


def run(chosen: Experiment, options: Namespace) -> None:
    # Absolute, because the workers of a cluster have other working directories.
    folder = (options.output or ROOT / "var" / "research" / chosen.name).absolute()
    if options.fresh:
        Checkpoint.discard(folder)
    print(f"{chosen.title}. Results are kept in {folder} as they come.")
    chosen = chosen.prepared(folder)
    with experiment.executor_for(options.processes, options.scheduler) as executor:
        results = experiment.run(chosen, folder, executor)
    print("All results are there. Making tables and figures of them.")
    finished = report.Report(
        title=chosen.title,
        sections=chosen.report(results),
        settings=chosen.reported_settings(),
        software=report.versions(),
    )
    for table in chosen.in_short(finished.sections):
        print(f"\n{report.as_text(table)}")
    print(f"Report: {report.write(finished, folder)}")


if __name__ == "__main__":
    main()
