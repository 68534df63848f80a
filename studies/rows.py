"""Writing and reading the rows of a step: a statement is built once for a model and its columns, and kept.

Building a statement costs more than running it. The values pass through the fields of the model, as they do when it is
saved, and the database's rules hold; signals of the models are not sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

from django.db import DatabaseError, connection, models
from django.db.models import Field, Model

AnyModel = TypeVar("AnyModel", bound=Model)
Converter = Callable[[Any], Any]

# What these fields keep is what they are given, if it is one of the types below.
PLAIN_FIELDS = (
    models.BooleanField, models.CharField, models.FloatField, models.ForeignKey, models.IntegerField,
)  # fmt: skip
PLAIN_TYPES = frozenset({bool, float, int, str, type(None)})


def read(
    model: type[AnyModel], names: tuple[str, ...], statement: str, values: Sequence[Any]
) -> list[tuple[AnyModel, tuple[Any, ...]]]:
    """The rows that a statement selects: each as an object with the fields of these names, which come first and in the
    order in which the model has them, and what else there is in it. Other fields are read if somebody asks."""
    converters, width, database = _from_database(model, names), len(names), connection.alias
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found = cursor.fetchall()
    # Django looks every field of the model up among the names.
    kept = frozenset(names)
    return [
        (model.from_db(database, kept, _converted(converters, row[:width])), row[width:])
        for row in found
    ]


def _converted(converters: Sequence[Converter | None], values: Sequence[Any]) -> list[Any]:
    return [
        value if value is None or convert is None else convert(value)
        for convert, value in zip(converters, values, strict=True)
    ]


@lru_cache
def _from_database(model: type[Model], names: tuple[str, ...]) -> tuple[Converter | None, ...]:
    """What turns a column's value into the field's, of those that differ in one of the databases."""
    fields = [field for field in model._meta.concrete_fields if field.attname in names]
    if tuple(field.attname for field in fields) != names:
        raise ValueError(f"The columns of {model.__name__} come in another order: {fields}.")
    return tuple(
        next((convert for kind, convert in FROM_DATABASE.items() if isinstance(field, kind)), None)
        for field in fields
    )


def _moment(value: datetime) -> datetime:
    """SQLite knows no time zones; what it keeps is UTC."""
    return value if value.tzinfo else value.replace(tzinfo=UTC)


FROM_DATABASE: dict[type[Field[Any, Any]], Converter] = {
    models.DateTimeField: _moment,
    models.JSONField: json.loads,
}


def insert(row: Model) -> None:
    """A new row. Its key is the database's, and stays there."""
    with connection.cursor() as cursor:
        cursor.execute(_insertion(type(row)), _new_values(row))


def insert_alike(row: Model, names: Sequence[str], values: Iterable[Sequence[Any]]) -> None:
    """New rows like this one, each with its own values of the fields of these names."""
    model, alike = type(row), _new_values(row)
    fields = [_field(model, name) for name in names]
    places = [_new_fields(model).index(field) for field in fields]

    def with_own(own: Sequence[Any]) -> list[Any]:
        found = alike.copy()
        for place, field, value in zip(places, fields, own, strict=True):
            found[place] = _prepared(field, value)
        return found

    with connection.cursor() as cursor:
        cursor.executemany(_insertion(model), [with_own(own) for own in values])


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
    """A value as the database takes it."""
    if type(value) in PLAIN_TYPES and (value is None or isinstance(field, PLAIN_FIELDS)):
        return value
    return field.get_db_prep_save(value, connection)


@lru_cache
def _new_fields(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    fields = tuple(field for field in model._meta.concrete_fields if not field.primary_key)
    for field in fields:
        if field.has_db_default() and not field.has_default():
            raise ValueError(
                f"{field} has a db_default alone. Give it a default too: every value of a new row is written here."
            )
    return fields


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


@lru_cache
def _field(model: type[Model], name: str) -> Any:
    return model._meta.get_field(name)
