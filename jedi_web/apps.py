from django.apps import AppConfig
from django.db.backends.signals import connection_created


class JediWebConfig(AppConfig):
    name = "jedi_web"

    def ready(self) -> None:
        from .connections import keep_only_what_can_write

        connection_created.connect(keep_only_what_can_write)
