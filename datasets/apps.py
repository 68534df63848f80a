from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "datasets"
    verbose_name = "Data sets"

    def ready(self) -> None:
        from jobs import recovery

        from .models import Import

        recovery.register(Import)
