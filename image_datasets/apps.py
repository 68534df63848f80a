from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "image_datasets"
    # Tables, permissions and URLs keep the name.
    label = "datasets"
    verbose_name = "Data sets"

    def ready(self) -> None:
        from jobs import recovery

        from .imports.services import delete_outdated_files
        from .models import Import

        recovery.register(Import)
        recovery.recovery_due.connect(delete_outdated_files)
