"""The payment page of a study: who gets the bonus and why, the files for platforms, and the record of payments."""

from dataclasses import dataclass, replace
from decimal import Decimal

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.html import format_html

from analysis.charts.tables import Column, Table, number_columns, row_names
from studies.models import Study
from studies.version_groups import VersionChoice, choose_versions, versions_in_words

from .bonus import (
    FILES,
    BonusFile,
    BonusPlan,
    Payee,
    Recruiter,
    bonus_of,
    bonus_plan,
    count_payments,
    explain,
    format_accuracy,
    payment_batches,
    people,
    percent,
    record_payments,
    undo_payments,
)
from .filters import query_string, version_links
from .page import Page, address, download, format_minute, participant_link, study_page

PAYEE_COLUMNS = (row_names("Participant"), *number_columns("Evaluation", "Bonus"))
PAID_COLUMNS = (*PAYEE_COLUMNS, Column("When", cell_class="moment"), Column("By"))
NOT_PAID = '<input type="checkbox" name="left_out" value="{}" aria-label="{} could not be paid">'


@dataclass(frozen=True)
class PaymentGroup:
    """The payees of one channel."""

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
        return Table(f"{self.file.title}: to be paid", PAYEE_COLUMNS, rows, is_tall=True)

    @property
    def due_table_to_tick(self) -> Table:
        """With a checkbox for everybody who could not be paid."""
        table = self.due_table
        boxes = [format_html(NOT_PAID, person.code, person.code) for person in self.due]
        rows = [[*row, box] for row, box in zip(table.rows, boxes, strict=True)]
        return replace(table, columns=(*PAYEE_COLUMNS, Column("Not paid")), rows=rows)

    @property
    def paid_table(self) -> Table:
        rows = [
            [
                *payee_cells(person, f"{payment.currency} {payment.amount}"),
                format_minute(payment.recorded_at),
                payment.recorded_by,
            ]
            for person in self.paid
            if (payment := person.payment)
        ]
        return Table(f"{self.file.title}: recorded as paid", PAID_COLUMNS, rows, is_tall=True)


def payee_cells(person: Payee, bonus: str) -> list[str]:
    accuracy = format_accuracy(person.evaluation_accuracy)
    return [participant_link(person.pk, person.code), accuracy, bonus]


def money(currency: str, amount: Decimal | None) -> str:
    return "–" if amount is None else f"{currency}\N{NO-BREAK SPACE}{amount:.2f}"


def payment(request: HttpRequest, study: Study) -> HttpResponse:
    versions = selected_versions(request, study)
    plan = bonus_plan(study, versions.numbers)
    bonus = money(plan.currency, plan.bonus)
    groups = []
    for file in FILES.values():
        payees = plan.payees(file.channel, with_paid=True)
        paid = [person for person in payees if person.payment]
        if payees:
            groups.append(PaymentGroup(file, bonus, plan.payees(file.channel), paid))
    accuracy = plan.cutoff.accuracy
    context = {
        "versions": versions,
        "filters": version_links(versions, {}),
        "query": query_string({"version": versions.value}),
        "query_again": query_string({"version": versions.value, "again": "1"}),
        "plan": plan,
        "sentence": explain(plan.cutoff),
        "share": percent(plan.cutoff.share),
        "facts": [
            ("finished and included", str(plan.cutoff.people)),
            ("proportion who receive the bonus", percent(plan.cutoff.share)),
            ("cut-off accuracy", "–" if accuracy is None else format_accuracy(accuracy)),
            ("receive the bonus", str(len(plan.top))),
            ("bonus each", bonus),
            ("in total", money(plan.currency, plan.total)),
            ("recorded as paid", str(plan.number_paid)),
        ],
        "amount": str(plan.bonus or ""),
        "groups": groups,
        "notes": notes(study, plan, versions),
        "batches": payment_batches(study),
    }
    return study_page(request, study, "admin/desk/payment.html", "Payment", context)


def selected_versions(request: HttpRequest, study: Study) -> VersionChoice:
    """By default the newest versions that may be ranked together."""
    return choose_versions(study, study.participants.live(), request.GET.get("version", ""))


def notes(study: Study, plan: BonusPlan, versions: VersionChoice) -> dict[str, str]:
    """What to know before paying, by code."""
    found = {}
    if not plan.bonus:
        found["no_pay"] = "Set the pay in the set-up: the bonus is the same amount."
    if study.state in (*Study.TAKES_PART, Study.State.PAUSED):
        found["not_closed"] = (
            "Participants can still finish, and each of them can move the cut-off. A bonus also reveals a good score, "
            "and from enough scores the labels can be worked out. Close the study before you pay."
        )
    if plan.currency != "USD" and any(one.channel == Recruiter.MTURK for one in plan.top):
        found["currency"] = (
            f"Mechanical Turk pays in US dollars, and this study’s pay is in {plan.currency}."
        )
    if unknown := sum(person.channel != person.recruiter for person in plan.top):
        found["invalid_ids"] = (
            f"{people(unknown)} came with an id that no platform issues, and can only be paid by code."
        )
    if (outside := count_payments(study, versions.numbers) - plan.number_paid) > 0:
        found["paid_outside"] = f"Recorded as paid, but no longer in the top: {people(outside)}."
    if apart := [version for version in versions.left_out if version.finished]:
        found["other_versions"] = (
            f"Finished with {versions_in_words([version.number for version in apart])} and ranked separately: "
            f"{people(sum(version.finished for version in apart))}. Select those settings above to pay them too."
        )
    return found


def bonus_file(request: HttpRequest, study: Study, name: str) -> HttpResponseBase:
    """The file that pays one platform's participants, without those already paid unless requested."""
    versions = selected_versions(request, study)
    plan = bonus_plan(study, versions.numbers)
    file = FILES.get(name)
    if file is None or plan.bonus is None:
        raise Http404
    text = file.content(study, plan, with_paid=request.GET.get("again") == "1")
    file_name = file.file_name(study, versions)
    return download(request, study, iter([text.encode()]), file_name, file.content_type)


def record_paid(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Record that the participants on the page were paid, except those that were ticked."""
    bonus = bonus_of(study)
    if bonus is None or request.POST.get("amount") != str(bonus):
        messages.error(
            request,
            "The pay of the study has changed since you opened this page. Check the amounts and try again.",
        )
        return back_to_page(request, study)
    left_out = set(request.POST.getlist("left_out"))
    codes = [code for code in request.POST.get("people", "").split() if code not in left_out]
    count = record_payments(study, codes, amount=bonus, actor=request.user)
    messages.success(
        request,
        f"{people(count)} recorded as paid." if count else "Nobody new was recorded as paid.",
    )
    return back_to_page(request, study)


def undo_paid(request: HttpRequest, study: Study) -> HttpResponseBase:
    count = undo_payments(study, request.POST.get("batch", ""), actor=request.user)
    messages.success(
        request, f"Undone for {people(count)}." if count else "This had already been undone."
    )
    return back_to_page(request, study)


def back_to_page(request: HttpRequest, study: Study) -> HttpResponseBase:
    """With the same versions."""
    query = query_string({"version": request.GET.get("version", "")})
    return redirect(address(study, "payment") + query)


PAGES = (
    Page("payment", "payment/", payment, title="Payment"),
    Page("bonus_file", "payment/files/<str:name>", bonus_file, edits=True),
    Page("record_paid", "payment/record/", record_paid, edits=True, posts=True),
    Page("undo_paid", "payment/undo/", undo_paid, edits=True, posts=True),
)
