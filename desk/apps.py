from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "The researcher's desk"

    def ready(self) -> None:
        from analysis.exports.tables import register
        from jobs.recovery import recovery_due
        from studies.answers import session_finished

        from . import connections, downloads, sharing

        post_migrate.connect(sharing.create_researchers_group, sender=sharing.last_app())
        session_finished.connect(connections.announce_finished)
        recovery_due.connect(connections.enqueue_due)
        register(*downloads.TABLES)
