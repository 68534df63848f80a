"""Who gets the bonus of a study as it is now: the cut-off and the sentence that explains it, and how to pay them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from desk.models import Payment
from studies.models import Participant, Study

Recruiter = Participant.Recruiter
# What recruiters issue. Anything else came from somewhere else, and must not become a line of a file that pays.
REAL_ID = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class Cutoff:
    """Where the top ends. `accuracy` is that of the last place; None if there is no place."""

    people: int
    share: Decimal
    exact: Decimal
    places: int
    accuracy: float | None
    paid: int
    tied: int
    """How many have the accuracy of the last place."""

    def includes(self, accuracy: float) -> bool:
        return self.accuracy is not None and accuracy >= self.accuracy


def find_cutoff(accuracies: Sequence[float], share: Decimal) -> Cutoff:
    """The top share of some accuracies. Fractions of a place are rounded up, and ties with the last place are in:
    so a person is in exactly if fewer than this share of all did better."""
    ranked = sorted(accuracies, reverse=True)
    exact = share * len(ranked)
    places = int(exact.to_integral_value(ROUND_CEILING))
    last = ranked[places - 1] if places else None
    top = [accuracy for accuracy in ranked if last is not None and accuracy >= last]
    tied = sum(accuracy == last for accuracy in top)
    return Cutoff(len(ranked), share, exact, places, last, len(top), tied)


def explain(cutoff: Cutoff) -> str:
    """The cut-off in a sentence, with the ties that made the top larger."""
    if not cutoff.people:
        return "Nobody has finished yet, so there is nobody to pay."
    counted = f"{percent(cutoff.share)} of {people(cutoff.people)} is {plain(cutoff.exact)}"
    if not cutoff.places or cutoff.accuracy is None:
        return f"{counted}, so nobody gets the bonus."
    rounded = "" if cutoff.exact == cutoff.places else f", rounded up to {cutoff.places}"
    return f"{counted}{rounded}; {_outcome(cutoff, accuracy_words(cutoff.accuracy))}."


def _outcome(cutoff: Cutoff, accuracy: str) -> str:
    if cutoff.paid == cutoff.places:
        return f"the cut-off is {accuracy}, and {are(cutoff.paid)} paid"
    who = "all of them" if cutoff.tied == cutoff.people else people(cutoff.tied)
    return f"{who} are tied for the last place at {accuracy}, so {are(cutoff.paid)} paid"


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


def bonus_plan(study: Study, versions: Sequence[int]) -> BonusPlan:
    """Of the people who joined with some versions of the settings: who took another test is ranked apart."""
    people = finished(study, versions)
    cutoff = find_cutoff([person.evaluation_accuracy for person in people], share_of(study))
    top = [person for person in people if cutoff.includes(person.evaluation_accuracy)]
    return BonusPlan(cutoff, top, bonus_of(study), study.currency)


def share_of(study: Study) -> Decimal:
    """Through its shortest decimal form: 0.2 is a fifth here, and of 35 people exactly 7."""
    return Decimal(str(study.bonus_share))


def bonus_of(study: Study) -> Decimal | None:
    """The bonus doubles the pay: it is the pay for taking part once more. None if the study has no pay."""
    return study.reward or None


def finished(study: Study, versions: Sequence[int]) -> list[Payee]:
    """Everybody the rule is about, the best first."""
    people = study.participants.counted().completed().filter(version__number__in=versions)
    rows: Any = (
        people.exclude(evaluation_accuracy=None)
        .order_by("-evaluation_accuracy", "code")
        .values("pk", "code", "recruiter", "external_id", "external_session", "evaluation_accuracy")
    )
    # From where the study was read: an export reads everything from its snapshot.
    payments = Payment.objects.using(study._state.db).of_study(study)
    paid = {row.participant_id: row for row in payments.standing()}
    return [Payee(**row, payment=paid.get(row["pk"])) for row in rows]


# Words


def accuracy_words(accuracy: float) -> str:
    return percent(Decimal(str(round(accuracy, 3))))


def percent(share: Decimal) -> str:
    return f"{plain(100 * share)}\N{NO-BREAK SPACE}%"


def plain(number: Decimal) -> str:
    """Without trailing zeros and without an exponent."""
    return f"{number.normalize():f}"


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def are(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"
