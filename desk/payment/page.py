"""The bonus of a study: who gets it and why, the recruiters' files, and the record of who was paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from desk.base.pages import Page, address, study_page
from desk.downloads.page import download
from studies.models import Participant, Study

from . import bonus as rule
from .bonus import Payee, Preview, preview
from .files import FILES, BonusFile


@dataclass(frozen=True)
class Group:
    """Those who are paid the same way."""

    form: BonusFile
    due: list[Payee]
    paid: list[Payee]

    @property
    def codes(self) -> str:
        return " ".join(person.code for person in self.due)


def payment(request: HttpRequest, study: Study) -> HttpResponse:
    seen = preview(study)
    acts = rule.acts(study)
    context = {
        "seen": seen,
        "sentence": rule.explain(seen.cut),
        "share": rule.percent(seen.cut.share),
        "facts": facts(seen),
        "bonus": money(seen.currency, seen.bonus),
        "amount": str(seen.bonus or ""),
        "groups": groups(seen),
        "notes": notes(study, seen, acts),
        "acts": acts,
    }
    return study_page(request, study, "admin/desk/payment/page.html", "Payment", context)


def groups(seen: Preview) -> list[Group]:
    everybody = [
        (form, seen.due(form.way), seen.due(form.way, again=True)) for form in FILES.values()
    ]
    return [
        Group(form, due, [person for person in known if person.payment])
        for form, due, known in everybody
        if known
    ]


def facts(seen: Preview) -> list[tuple[str, str]]:
    edge, paid = seen.cut.edge, sum(person.payment is not None for person in seen.top)
    return [
        ("finished and counted", str(seen.cut.people)),
        ("share with a bonus", rule.percent(seen.cut.share)),
        ("cut-off accuracy", "–" if edge is None else rule.accuracy_words(edge)),
        ("get the bonus", str(len(seen.top))),
        ("bonus for each", money(seen.currency, seen.bonus)),
        ("all together", money(seen.currency, seen.total)),
        ("recorded as paid", str(paid)),
    ]


def money(currency: str, amount: Decimal | None) -> str:
    return "–" if amount is None else f"{currency}\N{NO-BREAK SPACE}{amount:.2f}"


def notes(study: Study, seen: Preview, acts: Sequence[dict[str, Any]]) -> list[str]:
    """What a careful payer would want to know before paying."""
    mturk = Participant.Recruiter.MTURK
    standing = sum(act["people"] for act in acts if act["undone_at"] is None)
    outside = standing - sum(person.payment is not None for person in seen.top)
    odd = sum(person.way != person.recruiter for person in seen.top)
    said = {
        "Set the pay for taking part in the set-up: the bonus is as much again.": not seen.bonus,
        "People can still finish, and each of them can move the cut-off. Close the study before you pay.": (
            study.state in Study.TAKES_PART
        ),
        f"Mechanical Turk pays in US dollars, and this study’s pay is in {seen.currency}.": (
            seen.currency != "USD" and any(person.way == mturk for person in seen.top)
        ),
        f"{rule.people(odd)} came with an id that no recruiter gives out; they are listed by code.": odd,
        f"Recorded as paid before, and not in the top any more: {rule.people(outside)}.": outside
        > 0,
    }
    return [sentence for sentence, holds in said.items() if holds]


def bonus_file(request: HttpRequest, study: Study, name: str) -> HttpResponseBase:
    """The lines to pay one recruiter's people. Who was paid already is left out, unless asked for."""
    seen = preview(study)
    form = FILES.get(name)
    if form is None or seen.bonus is None:
        raise Http404
    text = form.content(study, seen, again=request.GET.get("again") == "1")
    return download(request, study, iter([text.encode()]), form.file_name(study), form.content_type)


def record(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Writes down that the people of the page were paid, except those who were ticked."""
    bonus = rule.bonus_of(study)
    if bonus is None or request.POST.get("amount") != str(bonus):
        messages.error(
            request, "The pay of the study has changed since the page was opened. Look again."
        )
        return back(study)
    left_out = set(request.POST.getlist("left_out"))
    codes = [code for code in request.POST.get("people", "").split() if code not in left_out]
    count = rule.record_paid(study, codes, amount=bonus, actor=request.user)
    words = (
        f"{rule.people(count)} recorded as paid." if count else "Nobody new was recorded as paid."
    )
    messages.success(request, words)
    return back(study)


def undo(request: HttpRequest, study: Study) -> HttpResponseBase:
    count = rule.undo_paid(study, request.POST.get("act", ""), actor=request.user)
    words = f"Taken back: {rule.people(count)}." if count else "It was taken back before."
    messages.success(request, words)
    return back(study)


def back(study: Study) -> HttpResponse:
    return redirect(address(study, "payment"))


PAGES = (
    Page("payment", "payment/", payment, title="Payment"),
    Page("bonus_file", "payment/files/<str:name>", bonus_file, edits=True),
    Page("record_paid", "payment/record/", record, edits=True, posts=True),
    Page("undo_paid", "payment/undo/", undo, edits=True, posts=True),
)
