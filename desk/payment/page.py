"""The bonus of a study: who gets it and why, the recruiters' files, and the record of who was paid."""

from dataclasses import dataclass, replace
from decimal import Decimal

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.html import format_html

from analysis.charts.tables import Column, Table, number_columns, row_names
from desk.base.cells import minute, participant_link
from desk.base.files import download
from desk.base.filter_links import query_of, version_links, versions_that_exist
from desk.base.pages import Page, address, study_page
from desk.models import Payment
from studies.models import Participant, Study
from studies.version_groups import VersionChoice, choose_versions, versions_in_words

from . import record
from .bonus import BonusPlan, Payee, accuracy_words, bonus_of, bonus_plan, explain, people, percent
from .files import FILES, BonusFile

PAYEES = (row_names("Participant"), *number_columns("Evaluation", "Bonus"))
PAID = (*PAYEES, Column("When", cell_class="moment"), Column("By"))
LEFT_OUT = '<input type="checkbox" name="left_out" value="{}" aria-label="{} could not be paid">'


@dataclass(frozen=True)
class PaymentGroup:
    """Those who are paid through the same channel."""

    file: BonusFile
    bonus: str
    due: list[Payee]
    paid: list[Payee]

    @property
    def codes(self) -> str:
        return " ".join(person.code for person in self.due)

    @property
    def due_table(self) -> Table:
        rows = [payee_cells(person, self.bonus) for person in self.due]
        return Table(f"{self.file.title}: to be paid", PAYEES, rows, is_tall=True)

    @property
    def due_table_to_tick(self) -> Table:
        """With a box for everybody who could not be paid."""
        plain = self.due_table
        boxes = [format_html(LEFT_OUT, person.code, person.code) for person in self.due]
        rows = [[*row, box] for row, box in zip(plain.rows, boxes, strict=True)]
        return replace(plain, columns=(*PAYEES, Column("Not paid")), rows=rows)

    @property
    def paid_table(self) -> Table:
        rows = [paid_cells(person, person.payment) for person in self.paid if person.payment]
        return Table(f"{self.file.title}: recorded as paid", PAID, rows, is_tall=True)


def payee_cells(person: Payee, bonus: str) -> list[str]:
    accuracy = accuracy_words(person.evaluation_accuracy)
    return [participant_link(person.pk, person.code), accuracy, bonus]


def paid_cells(person: Payee, payment: Payment) -> list[str]:
    bonus = f"{payment.currency} {payment.amount}"
    return [*payee_cells(person, bonus), minute(payment.recorded_at), payment.recorded_by]


def payment(request: HttpRequest, study: Study) -> HttpResponse:
    versions = chosen_versions(request, study)
    plan = bonus_plan(study, versions.numbers)
    context = {
        "versions": versions,
        "filters": version_links(versions, {}),
        "query": query_of({"version": versions.value}),
        "query_again": query_of({"version": versions.value, "again": "1"}),
        "plan": plan,
        "sentence": explain(plan.cutoff),
        "share": percent(plan.cutoff.share),
        "facts": facts(plan),
        "amount": str(plan.bonus or ""),
        "groups": groups(plan),
        "notes": notes(study, plan, versions),
        "batches": record.recorded_batches(study),
    }
    return study_page(request, study, "admin/desk/payment/page.html", "Payment", context)


def chosen_versions(request: HttpRequest, study: Study) -> VersionChoice:
    """Those of the address; by default the newest that may be ranked together."""
    with versions_that_exist():
        return choose_versions(study, study.participants.live(), request.GET.get("version", ""))


def groups(plan: BonusPlan) -> list[PaymentGroup]:
    """One for each channel by which people are to be paid, or were paid."""
    bonus = money(plan.currency, plan.bonus)
    everybody = [
        PaymentGroup(file, bonus, plan.payees(file.channel), paid_by(plan, file))
        for file in FILES.values()
    ]
    return [group for group in everybody if group.due or group.paid]


def paid_by(plan: BonusPlan, file: BonusFile) -> list[Payee]:
    return [person for person in plan.payees(file.channel, with_paid=True) if person.payment]


def facts(plan: BonusPlan) -> list[tuple[str, str]]:
    accuracy = plan.cutoff.accuracy
    return [
        ("finished and counted", str(plan.cutoff.people)),
        ("share that gets a bonus", percent(plan.cutoff.share)),
        ("cut-off accuracy", "–" if accuracy is None else accuracy_words(accuracy)),
        ("get the bonus", str(len(plan.top))),
        ("bonus each", money(plan.currency, plan.bonus)),
        ("in total", money(plan.currency, plan.total)),
        ("recorded as paid", str(number_paid(plan))),
    ]


def number_paid(plan: BonusPlan) -> int:
    return sum(person.payment is not None for person in plan.top)


def money(currency: str, amount: Decimal | None) -> str:
    return "–" if amount is None else f"{currency}\N{NO-BREAK SPACE}{amount:.2f}"


def notes(study: Study, plan: BonusPlan, versions: VersionChoice) -> list[str]:
    """What a careful payer would want to know before paying."""
    mturk = Participant.Recruiter.MTURK
    outside = record.number_paid(study, versions.numbers) - number_paid(plan)
    apart = [one for one in versions.left_out if one.finished]
    unknown = sum(person.channel != person.recruiter for person in plan.top)
    found = {
        "Set the pay for taking part in the set-up: the bonus is the same amount.": not plan.bonus,
        "People can still finish: each of them can move the cut-off, and a bonus tells a good score, from enough of "
        "which the labels can be worked out. Close the study before you pay.": (
            study.state in (*Study.TAKES_PART, Study.State.PAUSED)
        ),
        f"Mechanical Turk pays in US dollars, and this study’s pay is in {plan.currency}.": (
            plan.currency != "USD" and any(person.channel == mturk for person in plan.top)
        ),
        f"{people(unknown)} came with an id that no recruiter issues, and can only be paid by code.": (
            unknown > 0
        ),
        f"Recorded as paid, but no longer in the top: {people(outside)}.": outside > 0,
        f"Finished with {versions_in_words([one.number for one in apart])}, and ranked apart: "
        f"{people(sum(one.finished for one in apart))}. Choose those settings above to pay them too.": bool(
            apart
        ),
    }
    return [sentence for sentence, holds in found.items() if holds]


def bonus_file(request: HttpRequest, study: Study, name: str) -> HttpResponseBase:
    """The lines to pay one recruiter's people. Who was paid already is left out, unless asked for."""
    versions = chosen_versions(request, study)
    plan = bonus_plan(study, versions.numbers)
    file = FILES.get(name)
    if file is None or plan.bonus is None:
        raise Http404
    text = file.content(study, plan, with_paid=request.GET.get("again") == "1")
    file_name = file.file_name(study, versions)
    return download(request, study, iter([text.encode()]), file_name, file.content_type)


def record_paid(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Records that the people of the page were paid, except those who were ticked."""
    bonus = bonus_of(study)
    if bonus is None or request.POST.get("amount") != str(bonus):
        messages.error(
            request,
            "The pay of the study has changed since you opened this page. Check the amounts and try again.",
        )
        return redirect(back_to(request, study))
    left_out = set(request.POST.getlist("left_out"))
    codes = [code for code in request.POST.get("people", "").split() if code not in left_out]
    count = record.record_paid(study, codes, amount=bonus, actor=request.user)
    words = f"{people(count)} recorded as paid." if count else "Nobody new was recorded as paid."
    messages.success(request, words)
    return redirect(back_to(request, study))


def back_to(request: HttpRequest, study: Study) -> str:
    """The page as it was left: of the same versions."""
    return address(study, "payment") + query_of({"version": request.GET.get("version", "")})


def undo_paid(request: HttpRequest, study: Study) -> HttpResponseBase:
    count = record.undo_paid(study, request.POST.get("batch", ""), actor=request.user)
    words = f"Undone for {people(count)}." if count else "This had already been undone."
    messages.success(request, words)
    return redirect(back_to(request, study))


PAGES = (
    Page("payment", "payment/", payment, title="Payment"),
    Page("bonus_file", "payment/files/<str:name>", bonus_file, edits=True),
    Page("record_paid", "payment/record/", record_paid, edits=True, posts=True),
    Page("undo_paid", "payment/undo/", undo_paid, edits=True, posts=True),
)
