"""Brings a machine from a clone to a server that can start; running it again changes nothing."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from demo.services import load_demo
from jedi_web.first_researcher import first_password_link
from jedi_web.static_files import collect_if_changed


class Command(BaseCommand):
    help = (
        "Migrates the database, loads the demo study, collects static files and prints the links."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="leave the demo study out")

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0)
        collect_if_changed()
        self.stdout.write("")
        if not options["no_demo"]:
            self.stdout.write(f"  Take part as a worker:   {load_demo().public_url}")
        self.stdout.write(f"  Sign in as a researcher: {settings.JEDI_PUBLIC_URL}/admin/")
        if first := first_password_link():
            name, link = first
            self.stdout.write(
                f"  First, set the password of “{name}” (this link works once):\n    {link}"
            )
        self.stdout.write("")
