"""Loads a demo study."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from image_datasets.demo.services import DEMOS, load_demo


class Command(BaseCommand):
    help = "Creates a demo study of butterflies and its data set, unless it exists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "species",
            nargs="?",
            choices=list(DEMOS),
            default="two",
            help="the number of species (default: two)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Demo study: {load_demo(options['species']).public_url}")
