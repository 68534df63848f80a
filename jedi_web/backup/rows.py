"""Tables as lines of JSON that say the same on SQLite and on Postgres."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.apps import apps
from django.apps.registry import Apps
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder

CHUNK = 2000
# What `migrate` writes into an empty database by itself: replaced by the rows of the backup.
MADE_BY_MIGRATE = (
    "contenttypes.ContentType",
    "auth.Permission",
    "auth.Group",
    "auth.Group_permissions",
)


def tables(known: Apps = apps) -> list[type[models.Model]]:
    """Every table, those between two others too."""
    return [model for model in known.get_models(include_auto_created=True) if not model._meta.proxy]


def migrations(using: str) -> list[str]:
    """What the tables look like: the migrations that made them."""
    applied = MigrationRecorder.Migration.objects.using(using).values_list("app", "name")
    return sorted(f"{app}.{name}" for app, name in applied)


def lines(model: type[models.Model], using: str) -> Iterator[bytes]:
    """The rows of a table in the order of their keys."""
    names = [field.attname for field in model._meta.concrete_fields]
    rows = model._base_manager.using(using).order_by("pk").values_list(*names)
    for values in rows.iterator(chunk_size=CHUNK):
        row = dict(zip(names, values, strict=True))
        yield json.dumps(row, default=_text, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _text(value: Any) -> str:
    # Django's own encoder cuts microseconds, and a restored row would differ from the saved one.
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    raise TypeError(f"No rule to write {type(value).__name__} into a backup.")


def filled_tables() -> list[str]:
    """The tables that hold something beyond what `migrate` writes."""
    own = (model for model in tables() if model._meta.label not in MADE_BY_MIGRATE)
    return [model._meta.db_table for model in own if model._base_manager.exists()]


@transaction.atomic
def load(contents: Iterable[tuple[str, Iterable[bytes]]], known: Apps = apps) -> None:
    """Writes rows by table, as they were saved, all of them or none; `known` are the models of that time.

    Tables come in any order: both databases check references when the transaction ends.
    """
    by_table = {model._meta.db_table: model for model in tables(known)}
    for model in by_table.values():
        if model._meta.label in MADE_BY_MIGRATE:
            model._base_manager.all().delete()
    loaded = [_load_table(by_table[table], saved) for table, saved in contents]
    connection.check_constraints()
    _continue_numbering(loaded)


def _load_table(model: type[models.Model], saved: Iterable[bytes]) -> type[models.Model]:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    for line in saved:
        values = {name: fields[name].to_python(value) for name, value in json.loads(line).items()}
        # Raw: the row as it was, without times of today and without signals' work.
        model(**values).save_base(raw=True, force_insert=True, using=connection.alias)
    return model


def _continue_numbering(loaded: list[type[models.Model]]) -> None:
    """The next new row gets a number after those that were restored."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), loaded):
            cursor.execute(statement)
