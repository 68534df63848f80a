"""Who gets the bonus: the rule, the people it finds, and the record of who was paid."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from desk.models import Payment
from studies import audit
from studies.keys import new_key
from studies.models import AuditEntry, Participant, Study

Recruiter = Participant.Recruiter
# What recruiters give out. Anything else came from somewhere else, and must not become a line of a file that pays.
REAL_ID = re.compile(r"[A-Za-z0-9]+")


# The rule


@dataclass(frozen=True)
class Cut:
    """Where the top ends. `edge` is the accuracy of the last place; None if there is no place."""

    people: int
    share: Decimal
    exact: Decimal
    places: int
    edge: float | None
    paid: int
    at_edge: int

    def includes(self, accuracy: float) -> bool:
        return self.edge is not None and accuracy >= self.edge


def cut(accuracies: Sequence[float], share: Decimal) -> Cut:
    """The top share of some accuracies. A started place is a whole one, and who ties with the last place is in: so
    somebody is in exactly if fewer than this share of all did better."""
    ranked = sorted(accuracies, reverse=True)
    exact = share * len(ranked)
    places = int(exact.to_integral_value(ROUND_CEILING))
    edge = ranked[places - 1] if places else None
    top = [accuracy for accuracy in ranked if edge is not None and accuracy >= edge]
    at_edge = sum(accuracy == edge for accuracy in top)
    return Cut(len(ranked), share, exact, places, edge, len(top), at_edge)


def explain(cut: Cut) -> str:
    """The cut in a sentence, with the ties that made it larger."""
    if not cut.people:
        return "Nobody has finished yet, so there is nobody to pay."
    counted = f"{percent(cut.share)} of {people(cut.people)} is {plain(cut.exact)}"
    if not cut.places or cut.edge is None:
        return f"{counted}, so nobody gets the bonus."
    rounded = "" if cut.exact == cut.places else f", rounded up to {cut.places}"
    return f"{counted}{rounded}; {_edge(cut, cut.edge)}."


def _edge(cut: Cut, edge: float) -> str:
    accuracy = accuracy_words(edge)
    if cut.paid == cut.places:
        return f"the cut-off is {accuracy}, and {are(cut.paid)} paid"
    who = "all of them" if cut.at_edge == cut.people else people(cut.at_edge)
    return f"{who} share the edge at {accuracy}, so {are(cut.paid)} paid"


def accuracy_words(accuracy: float) -> str:
    return percent(Decimal(str(round(accuracy, 3))))


def percent(share: Decimal) -> str:
    return f"{plain(100 * share)}\N{NO-BREAK SPACE}%"


def plain(number: Decimal) -> str:
    """Without zeros at its end and without an exponent."""
    return f"{number.normalize():f}"


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def are(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"


def share_of(study: Study) -> Decimal:
    """Through its shortest decimal form: 0.2 is a fifth here, and of 35 people exactly 7."""
    return Decimal(str(study.bonus_share))


def bonus_of(study: Study) -> Decimal | None:
    """Double pay: as much again as for taking part. None if the study has no pay."""
    return study.reward or None


# The people


@dataclass(frozen=True)
class Payee:
    """Somebody in the top, and the payment that was recorded, if any."""

    pk: int
    code: str
    recruiter: str
    external_id: str
    external_session: str
    evaluation_accuracy: float
    payment: Payment | None = None

    @property
    def way(self) -> str:
        """How this person can be paid: by a recruiter's file, or ("") by hand."""
        ids = [self.external_id]
        if self.recruiter == Recruiter.MTURK:
            ids.append(self.external_session)
        is_real = all(REAL_ID.fullmatch(name) for name in ids)
        return self.recruiter if is_real else ""

    @property
    def accuracy_words(self) -> str:
        return accuracy_words(self.evaluation_accuracy)


@dataclass(frozen=True)
class Preview:
    """The whole rule applied to a study as it is now."""

    cut: Cut
    top: list[Payee]
    bonus: Decimal | None
    currency: str

    def due(self, way: str, *, again: bool = False) -> list[Payee]:
        """Who is to be paid this way; again: also who was paid already."""
        return [
            person for person in self.top if person.way == way and (again or not person.payment)
        ]

    @property
    def total(self) -> Decimal | None:
        return None if self.bonus is None else self.bonus * len(self.top)


def preview(study: Study) -> Preview:
    people = finished(study)
    edge = cut([person.evaluation_accuracy for person in people], share_of(study))
    top = [person for person in people if edge.includes(person.evaluation_accuracy)]
    return Preview(edge, top, bonus_of(study), study.currency)


def finished(study: Study) -> list[Payee]:
    """Everybody the rule is about, the best first."""
    people = study.participants.counted().completed().exclude(evaluation_accuracy=None)
    rows: Any = people.order_by("-evaluation_accuracy", "code").values(
        "pk", "code", "recruiter", "external_id", "external_session", "evaluation_accuracy"
    )
    paid = {row.participant_id: row for row in Payment.objects.of_study(study).standing()}
    return [Payee(**row, payment=paid.get(row["pk"])) for row in rows]


# The record


@transaction.atomic
def record_paid(study: Study, codes: Collection[str], *, amount: Decimal, actor: Any) -> int:
    """Writes down that these people were paid; who has been already is passed over. How many were new."""
    # Nobody else records payments of this study meanwhile.
    Study.objects.select_for_update().only("pk").get(pk=study.pk)
    paid = Payment.objects.of_study(study).standing().values("participant")
    people = study.participants.live().completed().filter(code__in=codes).exclude(pk__in=paid)
    act, now = new_key(), timezone.now()
    rows = [
        Payment(
            participant=person, act=act, amount=amount, currency=study.currency,
            recorded_at=now, recorded_by=actor.get_username(),
        )
        for person in people.only("pk")
    ]  # fmt: skip
    Payment.objects.bulk_create(rows)
    if rows:
        _write_down("Recorded as paid", rows, study, actor)
    return len(rows)


@transaction.atomic
def undo_paid(study: Study, act: str, *, actor: Any) -> int:
    """Takes back what was recorded together. How many payments that were."""
    standing = Payment.objects.of_study(study).standing().filter(act=act)
    rows = list(standing.select_for_update())
    if rows:
        Payment.objects.filter(pk__in=[row.pk for row in rows]).update(
            undone_at=timezone.now(), undone_by=actor.get_username()
        )
        _write_down("Took back the record of", rows, study, actor)
    return len(rows)


def _write_down(verb: str, rows: Sequence[Payment], study: Study, actor: Any) -> None:
    total = sum((row.amount for row in rows), Decimal(0))
    noun = "bonus" if len(rows) == 1 else "bonuses"
    detail = f"{verb}: {len(rows)} {noun}, {rows[0].currency} {total} in all."
    audit.record(AuditEntry.Action.PAY, detail, study=study, actor=actor)


def acts(study: Study) -> list[dict[str, Any]]:
    """What was recorded together, the newest first, taken back or not."""
    what = ("act", "amount", "currency")
    who_and_when = ("recorded_at", "recorded_by", "undone_at", "undone_by")
    payments = Payment.objects.of_study(study).order_by("-recorded_at", "act")
    rows = payments.values(*what, *who_and_when).annotate(people=Count("pk"))
    # Not summed by the database: SQLite adds amounts as floating-point numbers.
    return [{**row, "total": row["amount"] * row["people"]} for row in rows]
