"""The one way in which workers that race for the same row find out who has it."""

from typing import Any

from django.db.models import Model, QuerySet


def claim(rows: QuerySet[Any], row: Model, **fields: Any) -> bool:
    """Changes a row if it is still among these; whether it was.

    One statement, so that of two workers who claim the same row only one succeeds, on any database.
    """
    return bool(rows.filter(pk=row.pk).update(**fields))
