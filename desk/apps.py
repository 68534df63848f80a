from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "The researcher's desk"

    def ready(self) -> None:
        from analysis.exports.tables import register
        from jobs.recovery import recovery_due
        from studies.answers import session_finished

        from .access import roles
        from .connections import webhooks
        from .downloads import tables

        post_migrate.connect(roles.make_researchers, sender=roles.last_app())
        session_finished.connect(webhooks.announce_finished)
        recovery_due.connect(webhooks.enqueue_due)
        register(*tables.TABLES)
