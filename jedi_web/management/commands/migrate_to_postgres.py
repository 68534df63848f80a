"""A site on SQLite becomes one on Postgres."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jedi_web.backup.moving import CannotMove, move_to_postgres


class Command(BaseCommand):
    help = (
        "Copies every row from the SQLite file in JEDI_DATA_DIR into the empty Postgres database of DATABASE_URL. "
        "Stop the server first; sessions under way go on when it is started with DATABASE_URL."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = move_to_postgres()
        except CannotMove as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Moved {count:,} rows; every table says the same in both databases. Start the server and its workers "
            "with this DATABASE_URL. The SQLite file is as it was: keep it apart until you have made a backup."
        )
