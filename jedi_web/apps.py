from django.apps import AppConfig
from django.db.backends.signals import connection_created


class JediWebConfig(AppConfig):
    name = "jedi_web"

    def ready(self) -> None:
        # Importing the module registers the system checks.
        from . import checks  # noqa: F401
        from .connections import close_read_only_sqlite

        connection_created.connect(close_read_only_sqlite)
