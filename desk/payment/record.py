"""The record of who was paid: what was recorded together can be undone together, and nothing is lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from desk.models import Payment
from studies import audit
from studies.keys import new_key
from studies.models import AuditEntry, Study


@transaction.atomic
def record_paid(study: Study, codes: Collection[str], *, amount: Decimal, actor: Any) -> int:
    """Records that these people were paid, except those who already are. Returns how many were new."""
    # Nobody else records payments of this study meanwhile.
    Study.objects.select_for_update().only("pk").get(pk=study.pk)
    paid = Payment.objects.of_study(study).standing().values("participant")
    people = study.participants.live().completed().filter(code__in=codes).exclude(pk__in=paid)
    batch, now = new_key(), timezone.now()
    rows = [
        Payment(
            participant=person, batch=batch, amount=amount, currency=study.currency,
            recorded_at=now, recorded_by=actor.get_username(),
        )
        for person in people.only("pk")
    ]  # fmt: skip
    Payment.objects.bulk_create(rows, batch_size=500)
    if rows:
        _audit("Recorded as paid", rows, study, actor)
    return len(rows)


@transaction.atomic
def undo_paid(study: Study, batch: str, *, actor: Any) -> int:
    """Takes back what was recorded together. Returns how many payments that were."""
    standing = Payment.objects.of_study(study).standing().filter(batch=batch)
    rows = list(standing.select_for_update())
    if rows:
        Payment.objects.filter(pk__in=[row.pk for row in rows]).update(
            undone_at=timezone.now(), undone_by=actor.get_username()
        )
        _audit("Undid the record of", rows, study, actor)
    return len(rows)


def _audit(verb: str, rows: Sequence[Payment], study: Study, actor: Any) -> None:
    total = sum((row.amount for row in rows), Decimal(0))
    noun = "bonus" if len(rows) == 1 else "bonuses"
    detail = f"{verb}: {len(rows)} {noun}, {rows[0].currency} {total} in total."
    audit.record(AuditEntry.Action.PAY, detail, study=study, actor=actor)


def number_paid(study: Study, versions: Sequence[int]) -> int:
    """How many people of these versions are recorded as paid."""
    own = Payment.objects.of_study(study).standing()
    return own.filter(participant__version__number__in=versions).count()


def recorded_batches(study: Study) -> list[dict[str, Any]]:
    """What was recorded together, the newest first, undone or not."""
    what = ("batch", "amount", "currency")
    who_and_when = ("recorded_at", "recorded_by", "undone_at", "undone_by")
    payments = Payment.objects.of_study(study).order_by("-recorded_at", "batch")
    rows = payments.values(*what, *who_and_when).annotate(people=Count("pk"))
    # Not summed by the database: SQLite adds amounts as floating-point numbers.
    return [{**row, "total": row["amount"] * row["people"]} for row in rows]
