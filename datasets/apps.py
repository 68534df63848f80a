from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "datasets"
    verbose_name = "Data sets"

    def ready(self) -> None:
        from jobs.signals import recovery_due

        from .imports import services

        recovery_due.connect(services.recover)
