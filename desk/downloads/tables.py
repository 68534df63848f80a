"""The desk's own tables of an export: flags, decisions about exclusion, and payments.

They are about those who were excluded, too: a file that left them out could not say why. The exports know nothing of
the desk, so the desk adds these tables to theirs when it starts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from analysis.charts.formatting import NBSP
from analysis.exports.column import NUMBER, TEXT, TIME, Column, Columns
from analysis.exports.tables import ExportTable, StudySnapshot, participant_rows, rows_of_people
from analysis.exports.task_columns import PERSON, TASK_ORIGIN
from desk.models import Decision, Payment
from desk.payment.bonus import bonus_plan
from desk.quality.behaviour import flags_by_person
from desk.quality.flags import RULES, Flag
from studies.models import Participant


@dataclass(frozen=True)
class FlagRow:
    participant: Participant
    flag: Flag


def flag_rows(source: StudySnapshot) -> Iterator[FlagRow]:
    people = list(participant_rows(source, with_excluded=True))
    flags = flags_by_person(source.people(with_excluded=True), people)
    for person in people:
        yield from (FlagRow(person, flag) for flag in flags.get(person.pk, ()))


@dataclass(frozen=True)
class DueBonus:
    """What is to be paid and not recorded as paid: a payment without a record."""

    participant: Participant
    amount: Decimal
    currency: str
    state: str = "due"
    recorded_at: None = None
    recorded_by: str = ""
    undone_at: None = None
    undone_by: str = ""


def payment_rows(source: StudySnapshot) -> Iterator[Payment | DueBonus]:
    """Those that were recorded, and then what is due by the rule of the page of payments for the same versions."""
    recorded = Payment.objects.all()
    yield from rows_of_people(recorded, ("recorded_at", "pk"), source, with_excluded=True)
    plan = bonus_plan(source.study, source.versions)
    if plan.bonus is None:
        return
    due = {payee.pk for payee in plan.top if not payee.payment}
    for person in participant_rows(source):
        if person.pk in due:
            yield DueBonus(person, plan.bonus, plan.currency)


FLAGS: Columns = (
    *PERSON,
    Column(
        "flag",
        TEXT,
        f"The kind of flag: {', '.join(rule.key for rule in RULES)}. The page Quality says what each means.",
        "flag.rule.key",
    ),
    Column(
        "strength",
        TEXT,
        "strong: what the worker's page does not allow, or no person can do. look at: happens to honest people too.",
        "flag.rule.strength",
    ),
    Column(
        "numbers",
        TEXT,
        "The numbers behind the flag, in words.",
        lambda row: row.flag.numbers.replace(NBSP, " "),
    ),
    *TASK_ORIGIN,
)
EXCLUSIONS: Columns = (
    *PERSON,
    Column(
        "decision",
        TEXT,
        "excluded, or included again. The newest decision about a participant stands.",
        lambda row: "excluded" if row.excludes else "included again",
    ),
    Column("reason", TEXT, "The reason, as the researcher wrote it."),
    Column("decided_at", TIME, "When it was decided.", "at"),
    Column("decided_by", TEXT, "The user name of the researcher who decided.", "actor_name"),
    *TASK_ORIGIN,
)
PAYMENTS: Columns = (
    *PERSON,
    Column(
        "state",
        TEXT,
        "paid: recorded as paid. undone: that record was taken back. due: gets the bonus as the study is now, among "
        "the people of the file's versions, and is not recorded as paid.",
    ),
    Column("amount", NUMBER, "The bonus.", lambda payment: float(payment.amount)),
    Column("currency", TEXT, "Its currency."),
    Column("recorded_at", TIME, "When it was recorded as paid. Empty if it is due."),
    Column("recorded_by", TEXT, "The user name of the researcher who recorded it."),
    Column("undone_at", TIME, "When the record was taken back."),
    Column("undone_by", TEXT, "The user name of the researcher who took it back."),
    *TASK_ORIGIN,
)


def desk_table(name: str, title: str, description: str, columns: Columns, rows: Any) -> ExportTable:
    return ExportTable(name, title, description, lambda study: columns, rows)


TABLES = (
    desk_table(
        "flags",
        "Quality flags",
        "One row per flag of a participant, excluded participants included. A flag is computed from the session when "
        "the file is made, and decides nothing.",
        FLAGS,
        flag_rows,
    ),
    desk_table(
        "exclusions",
        "Exclusions",
        "One row per decision to exclude a participant or to count one again, with its reason, excluded participants "
        "included.",
        EXCLUSIONS,
        partial(rows_of_people, Decision.objects.all(), ("at", "pk"), with_excluded=True),
    ),
    desk_table(
        "payments",
        "Payments",
        "One row per bonus that was recorded as paid, undone or not, and one for each that is due now. Pay for taking "
        "part goes through the recruiter and is not in it.",
        PAYMENTS,
        payment_rows,
    ),
)
