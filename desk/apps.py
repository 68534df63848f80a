from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "The researcher's desk"

    def ready(self) -> None:
        from . import roles

        post_migrate.connect(roles.make_researchers, sender=roles.last_app())
