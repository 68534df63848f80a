"""Draws and loads a demo study."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from datasets.demo.services import DEMOS, load_demo


class Command(BaseCommand):
    help = "Draws butterflies and makes a demo study of them, unless it already exists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "species",
            nargs="?",
            choices=list(DEMOS),
            default="two",
            help="how many species there are to tell apart (default: two)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Demo study: {load_demo(options['species']).public_url}")
