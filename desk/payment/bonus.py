"""Who gets the bonus of a study as it is now, and by which channel they can be paid."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from desk.models import Payment
from studies.models import Participant, Study

from .cutoff import Cutoff, accuracy_words, find_cutoff

Recruiter = Participant.Recruiter
# What recruiters issue. Anything else came from somewhere else, and must not become a line of a file that pays.
REAL_ID = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class Payee:
    """A participant in the top share, and the recorded payment, if any."""

    pk: int
    code: str
    recruiter: str
    external_id: str
    external_session: str
    evaluation_accuracy: float
    payment: Payment | None = None

    @property
    def channel(self) -> str:
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
class BonusPlan:
    """The rule applied to a study as it is now."""

    cutoff: Cutoff
    top: list[Payee]
    bonus: Decimal | None
    currency: str

    def payees(self, channel: str, *, with_paid: bool = False) -> list[Payee]:
        """Who is still to be paid by this channel, or everybody who ever was."""
        alike = [person for person in self.top if person.channel == channel]
        return [person for person in alike if with_paid or not person.payment]

    @property
    def total(self) -> Decimal | None:
        return None if self.bonus is None else self.bonus * len(self.top)


def bonus_plan(study: Study) -> BonusPlan:
    people = finished(study)
    cutoff = find_cutoff([person.evaluation_accuracy for person in people], share_of(study))
    top = [person for person in people if cutoff.includes(person.evaluation_accuracy)]
    return BonusPlan(cutoff, top, bonus_of(study), study.currency)


def share_of(study: Study) -> Decimal:
    """Through its shortest decimal form: 0.2 is a fifth here, and of 35 people exactly 7."""
    return Decimal(str(study.bonus_share))


def bonus_of(study: Study) -> Decimal | None:
    """The bonus doubles the pay: it is the pay for taking part once more. None if the study has no pay."""
    return study.reward or None


def finished(study: Study) -> list[Payee]:
    """Everybody the rule is about, the best first."""
    people = study.participants.counted().completed().exclude(evaluation_accuracy=None)
    rows: Any = people.order_by("-evaluation_accuracy", "code").values(
        "pk", "code", "recruiter", "external_id", "external_session", "evaluation_accuracy"
    )
    paid = {row.participant_id: row for row in Payment.objects.of_study(study).standing()}
    return [Payee(**row, payment=paid.get(row["pk"])) for row in rows]
