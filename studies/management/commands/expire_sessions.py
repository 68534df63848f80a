"""Marks abandoned sessions, for a daily timer."""

from typing import Any

from django.core.management.base import BaseCommand

from studies.models import Study
from studies.services import expire_sessions


class Command(BaseCommand):
    help = "Marks sessions as abandoned whose worker has not been seen for longer than the study allows."

    def handle(self, *args: Any, **options: Any) -> None:
        marked = sum(expire_sessions(study) for study in Study.objects.all())
        self.stdout.write(f"Sessions marked as abandoned: {marked}")
