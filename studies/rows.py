"""Writing the rows of a step: a statement is built once for a model and its columns, and kept.

Building a statement costs more than running it. The values pass through the fields of the model, as they do when it is
saved, and the database's rules hold; signals of the models are not sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Field, Model


def insert(row: Model) -> None:
    """A new row. Its key is the database's, and stays there."""
    with connection.cursor() as cursor:
        cursor.execute(_insertion(type(row)), _new_values(row))


def insert_all(rows: Sequence[Model]) -> None:
    """New rows of one model; there is at least one."""
    with connection.cursor() as cursor:
        cursor.executemany(_insertion(type(rows[0])), [_new_values(row) for row in rows])


def save(row: Model, names: Sequence[str]) -> None:
    """These fields of a row that is there already."""
    values = {name: getattr(row, name) for name in names}
    if not change(type(row), values, {"id": row.pk}):
        raise DatabaseError(
            f"There is no {type(row).__name__} {row.pk} to write {', '.join(names)} to."
        )


def change(model: type[Model], values: Mapping[str, Any], where: Mapping[str, Any]) -> int:
    """Gives the rows at which all of `where` holds these values; returns how many there were."""
    statement = _update(model, tuple(values), tuple(where))
    prepared = [
        _prepared(_field(model, name), value) for name, value in (*values.items(), *where.items())
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, prepared)
        return int(cursor.rowcount)


def _new_values(row: Model) -> list[Any]:
    return [_prepared(field, field.pre_save(row, add=True)) for field in _new_fields(type(row))]


def _prepared(field: Field[Any, Any], value: Any) -> Any:
    """A value as the database takes it; of a task that waits for its answer most columns are empty."""
    return None if value is None else field.get_db_prep_save(value, connection)


@lru_cache
def _new_fields(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    return tuple(field for field in model._meta.concrete_fields if not field.primary_key)


@lru_cache
def _insertion(model: type[Model]) -> str:
    fields = _new_fields(model)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    return f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({places})'  # noqa: S608


@lru_cache
def _update(model: type[Model], changed: tuple[str, ...], where: tuple[str, ...]) -> str:
    values = ", ".join(f'"{_field(model, name).column}" = %s' for name in changed)
    condition = " AND ".join(f'"{_field(model, name).column}" = %s' for name in where)
    return f'UPDATE "{model._meta.db_table}" SET {values} WHERE {condition}'  # noqa: S608


def _field(model: type[Model], name: str) -> Any:
    return model._meta.get_field(name)
