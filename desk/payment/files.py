"""The bonus as the files that recruiters accept, each with that recruiter's people only."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from analysis.exports.formats import csv_text
from studies.models import Participant, Study
from studies.version_groups import VersionChoice

from .bonus import BonusPlan, Payee

Recruiter = Participant.Recruiter


@dataclass(frozen=True)
class BonusFile:
    """A kind of file that pays people through one channel."""

    name: str
    channel: str
    title: str
    content_type: str
    write: Callable[[Study, Decimal, Iterable[Payee]], str]
    instructions: str
    """What to do with the file."""
    has_ids: bool = True

    def file_name(self, study: Study, versions: VersionChoice) -> str:
        """It says when the workers' ids are in the file, and which versions it is about."""
        mark = "-identifiable" if self.has_ids else ""
        stem, _, extension = self.name.partition(".")
        return f"{study.slug}-bonus-{stem}{mark}{versions.mark}.{extension}"

    def content(self, study: Study, plan: BonusPlan, *, with_paid: bool) -> str:
        people = plan.payees(self.channel, with_paid=with_paid)
        return self.write(study, plan.bonus, people) if plan.bonus and people else ""


def prolific_lines(study: Study, bonus: Decimal, people: Iterable[Payee]) -> str:
    """Prolific's bulk bonus: a line with id and amount for each participant, no header."""
    return "".join(f"{person.external_id},{bonus:.2f}\n" for person in people)


def mturk_csv(study: Study, bonus: Decimal, people: Iterable[Payee]) -> str:
    """The arguments of SendBonus, a line for each call."""
    reason = f"Bonus for one of the best test results in {study.title}. Thank you!"
    rows = (
        [p.external_session, p.external_id, f"{bonus:.2f}", reason, request_token(p)]
        for p in people
    )
    return csv_text(
        ["AssignmentId", "WorkerId", "BonusAmount", "Reason", "UniqueRequestToken"], rows
    )


def request_token(person: Payee) -> str:
    """The same in every file: Mechanical Turk pays once for a token, however often a line is sent."""
    return f"jedi-bonus-{person.code}"


def code_csv(study: Study, bonus: Decimal, people: Iterable[Payee]) -> str:
    rows = ([person.code, f"{bonus:.2f}", study.currency] for person in people)
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
            "A line per participant, with id and amount: paste it into “Bulk bonus payment” of the study on Prolific.",
        ),
        BonusFile(
            "mturk.csv",
            Recruiter.MTURK,
            "Mechanical Turk",
            "text/csv; charset=utf-8",
            mturk_csv,
            "One line for each call of SendBonus, with the names of its arguments. The UniqueRequestToken of a person "
            "stays the same, so that sending a line twice pays once.",
        ),
        BonusFile(
            "by-code.csv",
            "",
            "By hand",
            "text/csv; charset=utf-8",
            code_csv,
            "Participant code and amount, for people without an id that a recruiter would recognise.",
            has_ids=False,
        ),
    )
}
