"""Draws and loads the demo study."""

from typing import Any

from django.core.management.base import BaseCommand

from datasets.demo.services import load_demo


class Command(BaseCommand):
    help = "Draws the butterflies and makes the demo study, unless it already exists."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Demo study: {load_demo().public_url}")
