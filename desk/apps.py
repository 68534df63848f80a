from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "The researcher's desk"

    def ready(self) -> None:
        from studies.signals import looking_around, session_finished

        from . import roles, webhooks

        post_migrate.connect(roles.make_researchers, sender=roles.last_app())
        session_finished.connect(webhooks.announce_finished)
        looking_around.connect(webhooks.enqueue_due)
