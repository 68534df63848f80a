"""The bonus as the files that recruiters take, each with its own people only."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from analysis.exports import cell
from studies.models import Participant, Study

from .bonus import Payee, Preview

Recruiter = Participant.Recruiter


@dataclass(frozen=True)
class BonusFile:
    """One form. `way` is who can be paid with it."""

    name: str
    way: str
    title: str
    content_type: str
    write: Callable[[Study, Decimal, Iterable[Payee]], str]
    how: str
    """What to do with the file."""
    has_ids: bool = True

    def file_name(self, study: Study) -> str:
        """It says when the workers' ids are in the file."""
        mark = "-identifiable" if self.has_ids else ""
        stem, _, extension = self.name.partition(".")
        return f"{study.slug}-bonus-{stem}{mark}.{extension}"

    def content(self, study: Study, seen: Preview, *, again: bool) -> str:
        people = seen.due(self.way, again=again)
        return self.write(study, seen.bonus, people) if seen.bonus and people else ""


def prolific_lines(study: Study, bonus: Decimal, people: Iterable[Payee]) -> str:
    """Prolific's bulk bonus: participant id and amount, a line each, no header."""
    return "".join(f"{person.external_id},{bonus:.2f}\n" for person in people)


def mturk_csv(study: Study, bonus: Decimal, people: Iterable[Payee]) -> str:
    reason = f"Bonus for one of the best test results in {study.title}. Thank you!"
    rows = ([p.external_session, p.external_id, f"{bonus:.2f}", cell(reason)] for p in people)
    return _csv(["AssignmentId", "WorkerId", "BonusAmount", "Reason"], rows)


def code_csv(study: Study, bonus: Decimal, people: Iterable[Payee]) -> str:
    rows = ([person.code, f"{bonus:.2f}", study.currency] for person in people)
    return _csv(["participant", "bonus", "currency"], rows)


def _csv(header: list[str], rows: Iterable[list[str | int | float]] | Iterable[list[str]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()


FILES = {
    form.name: form
    for form in (
        BonusFile(
            "prolific.txt",
            Recruiter.PROLIFIC,
            "Prolific",
            "text/plain; charset=utf-8",
            prolific_lines,
            "Participant id and amount, a line each: paste it into “Bulk bonus payment” of the study on Prolific.",
        ),
        BonusFile(
            "mturk.csv",
            Recruiter.MTURK,
            "Mechanical Turk",
            "text/csv; charset=utf-8",
            mturk_csv,
            "AssignmentId, WorkerId, BonusAmount, Reason: a line for each call of SendBonus.",
        ),
        BonusFile(
            "by-code.csv",
            "",
            "By hand",
            "text/csv; charset=utf-8",
            code_csv,
            "These people have no id that a recruiter knows: participant code and amount.",
            has_ids=False,
        ),
    )
}
