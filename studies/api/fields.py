"""Fields that several calls of the API have."""

from typing import Any

from rest_framework import serializers

from studies import stages
from studies.models import Participant


class StageField(serializers.ChoiceField):
    """Where a session is: in a stage that the settings name, or at its end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=(), **options)

    def bind(self, field_name: str, parent: Any) -> None:
        """The stages are read when they are needed, not with the module: they load the engine."""
        self.choices = stages.labels() | {end.value: str(end.label) for end in Participant.ENDS}
        super().bind(field_name, parent)
