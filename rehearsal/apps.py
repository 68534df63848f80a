from django.apps import AppConfig


class RehearsalConfig(AppConfig):
    name = "rehearsal"

    def ready(self) -> None:
        from jobs import recovery

        from .models import Rehearsal

        recovery.register(Rehearsal)
