from django.apps import AppConfig
from django.core import checks
from django.db.backends.signals import connection_created


class JediWebConfig(AppConfig):
    name = "jedi_web"

    def ready(self) -> None:
        from .checks import files_can_be_read_by_the_server_in_front
        from .connections import keep_only_what_can_write

        checks.register(files_can_be_read_by_the_server_in_front)
        connection_created.connect(keep_only_what_can_write)
