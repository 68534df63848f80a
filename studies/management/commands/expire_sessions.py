"""Marks abandoned sessions, for a daily timer."""

from typing import Any

from django.core.management.base import BaseCommand

from studies.models import Study
from studies.services import expire_sessions


class Command(BaseCommand):
    help = "Marks sessions that nobody was seen in for longer than their study allows as abandoned."

    def handle(self, *args: Any, **options: Any) -> None:
        marked = sum(expire_sessions(study) for study in Study.objects.all())
        self.stdout.write(f"{marked} sessions were abandoned.")
