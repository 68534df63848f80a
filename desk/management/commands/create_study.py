"""Create a study from the command line, with the same validation as the admin."""

import math
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from desk.checks import alarms
from studies.models import Dataset, Study
from studies.rates import rate_question, rate_sentence


class Command(BaseCommand):
    help = "Creates a study. Settings that are not given have the paper's values."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the link name: the study's address is /s/<link name>/")
        parser.add_argument("--title", required=True)
        parser.add_argument(
            "--dataset", required=True, help="the data set's name; its newest version is used"
        )
        parser.add_argument(
            "--consent-file", type=Path, required=True, help="a text file with the consent text"
        )
        parser.add_argument("--open", action="store_true", help="open the study to workers at once")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="FIELD=VALUE",
            help="any other setting, for example --set evaluation_size=60; may be given several times",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study(
            slug=options["slug"],
            title=options["title"],
            dataset=newest_dataset(options["dataset"]),
            consent=read_text(options["consent_file"]),
            state=Study.State.OPEN if options["open"] else Study.State.DRAFT,
        )
        for setting in options["set"]:
            apply_setting(study, setting)
        try:
            study.full_clean()
        except ValidationError as error:
            reasons = error.message_dict.items()
            raise CommandError(
                "\n".join(f"{name}: {' '.join(why)}" for name, why in reasons)
            ) from error
        study.save()
        self.stdout.write(f"{study.get_state_display()}: {study.public_url}")
        self.stdout.write(rate_sentence(study))
        for doubt in doubts_of(study):
            self.stderr.write(self.style.WARNING(doubt))


def doubts_of(study: Study) -> list[str]:
    """For an open study, the alarms of its check list; for a draft only the learning rate, as the rest may change."""
    if study.state == Study.State.OPEN:
        return [f"{check.rule.title}: {check.finding.sentence}" for check in alarms(study)]
    return [question] if (question := rate_question(study)) else []


def newest_dataset(name: str) -> Dataset:
    dataset = Dataset.objects.filter(name=name).order_by("-version").first()
    if dataset is None:
        names = ", ".join(sorted(set(Dataset.objects.values_list("name", flat=True)))) or "none yet"
        raise CommandError(f"There is no data set {name!r}. Data sets: {names}.")
    return dataset


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"The consent text {path} cannot be read as UTF-8 text: {error}"
        ) from error


def apply_setting(study: Study, setting: str) -> None:
    name, separator, value = setting.partition("=")
    settable = {field.name: field for field in Study._meta.fields if field.editable}
    for fixed in ("id", "slug", "dataset"):
        settable.pop(fixed, None)
    if not separator or name not in settable:
        raise CommandError(
            f"--set {setting}: write FIELD=VALUE with one of {', '.join(sorted(settable))}."
        )
    field = settable[name]
    try:
        number_or_text = field.to_python(None if field.null and not value else value)
    except ValidationError as error:
        raise CommandError(f"--set {setting}: {' '.join(error.messages)}") from error
    if isinstance(number_or_text, float) and not math.isfinite(number_or_text):
        raise CommandError(f"--set {setting}: give a number.")
    setattr(study, name, number_or_text)
