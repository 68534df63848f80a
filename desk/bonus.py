"""The bonus of a study: who gets it, the files that platforms accept, and the record of who was paid."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from analysis.exports.formats import csv_text
from studies import audit
from studies.keys import new_key
from studies.models import AuditEntry, Participant, Study
from studies.version_groups import VersionChoice

from .models import Payment

Recruiter = Participant.Recruiter
# The form of ids that platforms issue. Other ids must not get into a file that pays.
PLATFORM_ID = re.compile(r"[A-Za-z0-9]+")


# Who gets it


@dataclass(frozen=True)
class Cutoff:
    """Where the top share of the ranking ends."""

    people: int
    share: Decimal
    exact: Decimal
    """The number of places before rounding."""
    places: int
    accuracy: float | None
    """The accuracy of the last place; None if there is no place."""
    paid: int
    tied: int
    """The number of participants with the accuracy of the last place."""

    def includes(self, accuracy: float) -> bool:
        return self.accuracy is not None and accuracy >= self.accuracy


def find_cutoff(accuracies: Sequence[float], share: Decimal) -> Cutoff:
    """The top share of the accuracies. Fractions of a place are rounded up, and ties with the last place are included.

    So a participant is included exactly if fewer than this share of all did better.
    """
    ranked = sorted(accuracies, reverse=True)
    exact = share * len(ranked)
    places = int(exact.to_integral_value(ROUND_CEILING))
    last = ranked[places - 1] if places else None
    paid = sum(last is not None and accuracy >= last for accuracy in ranked)
    tied = sum(accuracy == last for accuracy in ranked)
    return Cutoff(len(ranked), share, exact, places, last, paid, tied)


def explain(cutoff: Cutoff) -> str:
    """The cut-off in a sentence, with the ties that increase the number of payments."""
    if not cutoff.people:
        return "Nobody has finished yet, so nobody gets a bonus."
    places = f"{percent(cutoff.share)} of {people(cutoff.people)} is {plain(cutoff.exact)}"
    if cutoff.accuracy is None:
        return f"{places}, so nobody gets a bonus."
    if cutoff.exact != cutoff.places:
        places += f", rounded up to {cutoff.places}"
    accuracy = format_accuracy(cutoff.accuracy)
    paid = "1 is paid" if cutoff.paid == 1 else f"{cutoff.paid} are paid"
    if cutoff.paid == cutoff.places:
        return f"{places}; the cut-off is {accuracy}, and {paid}."
    who = "all of them" if cutoff.tied == cutoff.people else people(cutoff.tied)
    return f"{places}; {who} are tied for the last place at {accuracy}, so {paid}."


@dataclass(frozen=True)
class Payee:
    """A participant in the ranking, with the recorded payment if there is one."""

    pk: int
    code: str
    recruiter: str
    external_id: str
    external_session: str
    evaluation_accuracy: float
    payment: Payment | None = None

    @property
    def channel(self) -> str:
        """The platform that can pay this participant; empty if it has to be done by hand."""
        ids = [self.external_id]
        if self.recruiter == Recruiter.MTURK:
            ids.append(self.external_session)
        return self.recruiter if all(PLATFORM_ID.fullmatch(name) for name in ids) else ""


@dataclass(frozen=True)
class BonusPlan:
    """Who gets the bonus of a study as it is now."""

    cutoff: Cutoff
    top: list[Payee]
    bonus: Decimal | None
    currency: str

    def payees(self, channel: str, *, with_paid: bool = False) -> list[Payee]:
        """Those still to be paid through a channel, or all of them."""
        payees = [person for person in self.top if person.channel == channel]
        return [person for person in payees if with_paid or not person.payment]

    @property
    def total(self) -> Decimal | None:
        return None if self.bonus is None else self.bonus * len(self.top)

    @property
    def number_paid(self) -> int:
        return sum(person.payment is not None for person in self.top)


def bonus_plan(study: Study, versions: Sequence[int]) -> BonusPlan:
    """Participants who took a different test are ranked separately, by choosing their versions."""
    rows: Any = (
        study.participants.counted()
        .completed()
        .filter(version__number__in=versions)
        .exclude(evaluation_accuracy=None)
        .order_by("-evaluation_accuracy", "code")
        .values("pk", "code", "recruiter", "external_id", "external_session", "evaluation_accuracy")
    )
    # From the database of the study, which is a snapshot during an export.
    payments = Payment.objects.using(study._state.db).of_study(study).standing()
    paid = {payment.participant_id: payment for payment in payments}
    ranked = [Payee(**row, payment=paid.get(row["pk"])) for row in rows]
    accuracies = [person.evaluation_accuracy for person in ranked]
    cutoff = find_cutoff(accuracies, bonus_share_of(study))
    top = [person for person in ranked if cutoff.includes(person.evaluation_accuracy)]
    return BonusPlan(cutoff, top, bonus_of(study), study.currency)


def bonus_share_of(study: Study) -> Decimal:
    """Through its shortest decimal form: 0.2 is exactly a fifth, and 20 % of 35 participants are exactly 7."""
    return Decimal(str(study.bonus_share))


def bonus_of(study: Study) -> Decimal | None:
    """The bonus doubles the pay. None if the study has no pay."""
    return study.reward or None


def format_accuracy(accuracy: float) -> str:
    return percent(Decimal(str(round(accuracy, 3))))


def percent(share: Decimal) -> str:
    return f"{plain(100 * share)}\N{NO-BREAK SPACE}%"


def plain(number: Decimal) -> str:
    """Without trailing zeros and without an exponent."""
    return f"{number.normalize():f}"


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


# Files that platforms accept


@dataclass(frozen=True)
class BonusFile:
    """A file that pays participants through one channel."""

    name: str
    channel: str
    title: str
    content_type: str
    write: Callable[[Study, Decimal, Iterable[Payee]], str]
    instructions: str
    has_ids: bool = True

    def file_name(self, study: Study, versions: VersionChoice) -> str:
        """The name says whether platform ids are in the file, and which versions it is about."""
        mark = "-identifiable" if self.has_ids else ""
        stem, _, extension = self.name.partition(".")
        return f"{study.slug}-bonus-{stem}{mark}{versions.mark}.{extension}"

    def content(self, study: Study, plan: BonusPlan, *, with_paid: bool) -> str:
        payees = plan.payees(self.channel, with_paid=with_paid)
        return self.write(study, plan.bonus, payees) if plan.bonus and payees else ""


def prolific_lines(study: Study, bonus: Decimal, payees: Iterable[Payee]) -> str:
    """Prolific's bulk bonus payment: id and amount per line, without a header."""
    return "".join(f"{person.external_id},{bonus:.2f}\n" for person in payees)


def mturk_csv(study: Study, bonus: Decimal, payees: Iterable[Payee]) -> str:
    """The arguments of SendBonus, one call per line. MTurk pays only once for a UniqueRequestToken."""
    reason = f"Bonus for one of the best test results in {study.title}. Thank you!"
    columns = ["AssignmentId", "WorkerId", "BonusAmount", "Reason", "UniqueRequestToken"]
    rows = (
        [
            person.external_session,
            person.external_id,
            f"{bonus:.2f}",
            reason,
            f"jedi-bonus-{person.code}",
        ]
        for person in payees
    )
    return csv_text(columns, rows)


def code_csv(study: Study, bonus: Decimal, payees: Iterable[Payee]) -> str:
    rows = ([person.code, f"{bonus:.2f}", study.currency] for person in payees)
    return csv_text(["participant", "bonus", "currency"], rows)


FILES = {
    file.name: file
    for file in (
        BonusFile(
            "prolific.txt",
            Recruiter.PROLIFIC,
            "Prolific",
            "text/plain; charset=utf-8",
            prolific_lines,
            "One line per participant: id and amount. Paste it into “Bulk bonus payment” of the study on Prolific.",
        ),
        BonusFile(
            "mturk.csv",
            Recruiter.MTURK,
            "Mechanical Turk",
            "text/csv; charset=utf-8",
            mturk_csv,
            "One line for each call of SendBonus, with the names of its arguments. The UniqueRequestToken of a "
            "participant stays the same, so that sending a line twice pays once.",
        ),
        BonusFile(
            "by-code.csv",
            "",
            "By hand",
            "text/csv; charset=utf-8",
            code_csv,
            "Participant code and amount, for participants without a valid platform id.",
            has_ids=False,
        ),
    )
}


# The record of payments


@transaction.atomic
def record_payments(study: Study, codes: Collection[str], *, amount: Decimal, actor: Any) -> int:
    """Record payments to these participants, except those already paid. Return the number of new ones."""
    # Lock the study, so that two requests cannot record the same payments.
    Study.objects.select_for_update().only("pk").get(pk=study.pk)
    paid = Payment.objects.of_study(study).standing().values("participant")
    payees = study.participants.live().completed().filter(code__in=codes).exclude(pk__in=paid)
    batch, now = new_key(), timezone.now()
    rows = [
        Payment(
            participant=person,
            batch=batch,
            amount=amount,
            currency=study.currency,
            recorded_at=now,
            recorded_by=actor.get_username(),
        )
        for person in payees.only("pk")
    ]
    Payment.objects.bulk_create(rows, batch_size=500)
    _audit("Recorded as paid", rows, study, actor)
    return len(rows)


@transaction.atomic
def undo_payments(study: Study, batch: str, *, actor: Any) -> int:
    """Undo the payments that were recorded together. Return their number."""
    standing = Payment.objects.of_study(study).standing().filter(batch=batch)
    rows = list(standing.select_for_update())
    Payment.objects.filter(pk__in=[row.pk for row in rows]).update(
        undone_at=timezone.now(), undone_by=actor.get_username()
    )
    _audit("Undid the record of", rows, study, actor)
    return len(rows)


def _audit(verb: str, rows: Sequence[Payment], study: Study, actor: Any) -> None:
    if rows:
        total = sum((row.amount for row in rows), Decimal(0))
        noun = "bonus" if len(rows) == 1 else "bonuses"
        detail = f"{verb}: {len(rows)} {noun}, {rows[0].currency} {total} in total."
        audit.record(AuditEntry.Action.PAY, detail, study=study, actor=actor)


def count_payments(study: Study, versions: Sequence[int]) -> int:
    """The number of participants of these versions who are recorded as paid."""
    payments = Payment.objects.of_study(study).standing()
    return payments.filter(participant__version__number__in=versions).count()


def payment_batches(study: Study) -> list[dict[str, Any]]:
    """The payments that were recorded together, the newest first, including undone ones."""
    rows = (
        Payment.objects.of_study(study)
        .order_by("-recorded_at", "batch")
        .values(
            "batch", "amount", "currency", "recorded_at", "recorded_by", "undone_at", "undone_by"
        )
        .annotate(people=Count("pk"))
    )
    # Not summed by the database: SQLite adds amounts as floating-point numbers.
    return [{**row, "total": row["amount"] * row["people"]} for row in rows]
