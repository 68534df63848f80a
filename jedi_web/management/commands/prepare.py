"""Prepare everything that the server needs to start; running it again changes no data."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.management.commands import collectstatic
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from desk.accounts import make_password_link
from image_datasets.demo.services import load_demo
from jedi_web import readiness
from jedi_web.connections import DatabaseUnreachable, wait_for_postgres
from jedi_web.data_folder import DataFolderNotWritable, DataFolderUnusable, lock_for_prepare
from studies.errors import NOT_WRITTEN, outage_of


class CollectStatic(collectstatic.Command):
    """Copy every file. Django skips files whose copy is newer, which is stale after a rollback or `rsync -a`."""

    def delete_file(self, path: str, prefixed_path: str, source_storage: Any) -> bool:
        self.storage.delete(prefixed_path)
        return True


class Command(BaseCommand):
    help = (
        "Migrates the database, loads the demo study, collects static files and prints the links."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="leave the demo study out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            wait_for_postgres()
            with lock_for_prepare(settings.JEDI_DATA_DIR):
                self.prepare(has_demo=not options["no_demo"])
        except (DataFolderUnusable, DatabaseUnreachable) as error:
            raise CommandError(str(error)) from error
        except (DatabaseError, OSError) as error:
            if outage_of(error) != NOT_WRITTEN:
                raise
            raise CommandError(str(DataFolderNotWritable(settings.JEDI_DATA_DIR, error))) from error

    def prepare(self, *, has_demo: bool) -> None:
        call_command("migrate", verbosity=0)
        if problem := readiness.clock():
            self.stderr.write(self.style.WARNING(problem))
        call_command(CollectStatic(), verbosity=0, interactive=False)
        # Imported here because it loads SciPy. There is something to do only after an upgrade.
        from teaching.services import fit_earlier_sessions

        fit_earlier_sessions()
        self.stdout.write("")
        if has_demo:
            self.stdout.write(f"  Take part as a worker:   {load_demo().public_url}")
        self.stdout.write(f"  Sign in as a researcher: {settings.JEDI_PUBLIC_URL}/admin/")
        if first := first_password_link():
            name, link = first
            self.stdout.write(
                f"  First, set the password of “{name}” (this link works once):\n    {link}"
            )
        self.stdout.write("")


def first_password_link() -> tuple[str, str] | None:
    """The name of the first superuser and a one-time link to set the password, or None if a superuser has one.

    There is no default password.
    """
    users = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if any(user.has_usable_password() for user in users):
        return None
    user = users.first() or User.objects.create_superuser("researcher", password=None)
    return user.get_username(), make_password_link(user)
