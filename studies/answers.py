"""The fields of answers: the API checks each of them once, and a stage takes from them what it needs."""

import math
from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from .errors import InvalidAnswer

# Longer than any session lives: a worker may answer after days.
MAX_MS = 1e12

AnswerFields = Mapping[str, "serializers.Field[Any, Any, Any, Any]"]


class Milliseconds(serializers.FloatField):
    """A time by the client's clock: a real number, whatever the client's clock did."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_MS, **options)

    def to_internal_value(self, data: Any) -> float:
        try:
            value = super().to_internal_value(data)
        except OverflowError:
            value = math.inf
        if math.isnan(value):
            self.fail("invalid")
        return value


RESPONSE_MS = Milliseconds(required=False, help_text="from paint to answer, by the client's clock")


def complete(fields: AnswerFields, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The values of these fields, None for optional ones that were left out."""
    missing = [name for name, field in fields.items() if field.required and name not in payload]
    if missing:
        reason = str(serializers.Field.default_error_messages["required"])
        raise InvalidAnswer(fields={name: [reason] for name in missing})
    return {name: payload.get(name) for name in fields}
