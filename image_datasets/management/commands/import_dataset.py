"""Imports a data set from the command line, exactly as the admin does."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from image_datasets.imports import services
from image_datasets.models import Import
from image_datasets.remedy import Remedy, trial_table


class Command(BaseCommand):
    help = "Makes a data set from the images in a folder or a zip."

    def add_arguments(self, parser: ArgumentParser) -> None:
        # Loaded when the command runs: a web process lists commands too.
        from image_datasets.extractors.registry import EXTRACTORS

        parser.add_argument(
            "name", help="the data set's name; a name already in use gets a new version"
        )
        parser.add_argument("path", type=Path, help="a folder or a zip")
        parser.add_argument(
            "--features",
            default=Import.BEST,
            metavar="NAME",
            help=f"{Import.BEST} (the default: the most accurate that read no shortcut), "
            f"or one of {', '.join(EXTRACTORS)}",
        )
        parser.add_argument(
            "--classes",
            nargs="+",
            default=[],
            metavar="NAME",
            help="teach only these folders or labels (default: all)",
        )
        parser.add_argument("--evaluation-per-class", type=int, metavar="N")
        parser.add_argument(
            "--duplicates",
            choices=Import.Duplicates.values,
            default=Import.Duplicates.KEEP_TOGETHER,
        )
        parser.add_argument(
            "--skip-bad", action="store_true", help="leave out images that cannot be read"
        )
        add_remedy_arguments(parser)
        parser.add_argument("--seed", type=whole_number, help="for the split (default: random)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["path"].exists():
            raise CommandError(f"There is nothing at {options['path']}. Give a folder or a zip.")
        job = Import(
            name=options["name"],
            source=str(options["path"].resolve()),
            file_name=options["path"].name[:200],
            extractor=options["features"],
            only_classes=options["classes"],
            duplicates=options["duplicates"],
            skips_bad_images=options["skip_bad"],
            evaluation_per_class=options["evaluation_per_class"],
            **remedy_fields(options),
        )
        if options["seed"] is not None:
            job.seed = options["seed"]
        try:
            job.full_clean()
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        job.save()
        self.run(job)
        if job.state != Import.State.DONE:
            raise CommandError(job.problem or f"The import is {job.get_state_display()}.")
        for row in job.findings["candidates"]:
            self.stdout.write(describe(row))
        for warning in job.findings["warnings"]:
            self.stdout.write(warning)
        for line in compared(job.findings["trials"]):
            self.stdout.write(line)
        self.stdout.write(f"Data set: {job.dataset}")

    def run(self, job: Import) -> None:
        try:
            services.run(job, echo=self.stdout.write)
        except KeyboardInterrupt as interruption:
            job.report(state=Import.State.CANCELLED, step="")
            raise CommandError(
                "The import was cancelled, and no data set was made. It can be resumed in the admin."
            ) from interruption


def add_remedy_arguments(parser: ArgumentParser) -> None:
    remedies = parser.add_argument_group("remedies for shortcuts, applied to every image alike")
    remedies.add_argument(
        "--crop",
        type=whole_number,
        nargs=4,
        metavar=("LEFT", "TOP", "RIGHT", "BOTTOM"),
        default=[0, 0, 0, 0],
        help="cut off these per cent of the width and height",
    )
    remedies.add_argument("--square", action="store_true", help="crop to a square in the middle")
    remedies.add_argument("--border", choices=["mask", "blur"], default="")
    remedies.add_argument(
        "--border-width", type=whole_number, default=10, metavar="PERCENT", help="(default: 10)"
    )
    remedies.add_argument(
        "--equalise", action="store_true", help="give all images one brightness and contrast"
    )


def remedy_fields(options: dict[str, Any]) -> dict[str, Any]:
    left, top, right, bottom = options["crop"]
    remedy = Remedy(
        left,
        top,
        right,
        bottom,
        crops_to_square=options["square"],
        border=options["border"],
        border_width=options["border_width"],
        equalises_brightness=options["equalise"],
    )
    return remedy.as_json()


def whole_number(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError("write a whole number, 0 or greater")
    return int(text)


def compared(trials: list[dict[str, Any]]) -> Iterator[str]:
    """The numbers before and after a remedy, if there was one."""
    table = trial_table(trials)
    if table and len(trials) > 1:
        yield "Images " + "; then ".join(table["remedies"]) + ":"
        for row in table["rows"]:
            shares = (f"{100 * cell['mean']:.1f} %" if cell else "–" for cell in row["cells"])
            yield f"  {row['title']}: {' → '.join(shares)}"


def describe(row: dict[str, Any]) -> str:
    if accuracy := row.get("accuracy"):
        interval = f"{accuracy['low_percent']}–{accuracy['high_percent']} %"
        concept = f"{row['title']}: target concept {accuracy['mean_percent']} % ({interval})"
        return " ".join([concept, *row.get("reads", [])])
    return f"{row['title']}: {row['missing']}"
