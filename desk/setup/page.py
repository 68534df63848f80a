"""A study's set-up: its state, what its settings mean in words, and a check of them while they are typed."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from desk.base.pages import AdminPage, Page, address
from desk.checks.page import how_many
from desk.checks.table import check_list
from desk.versions.differences import Difference, differences
from memorytest.decay import decay_sentence
from studies.errors import StateNotAllowed
from studies.models import Participant, Study
from studies.models.settings import HARMLESS, IN_THE_PAPER, SESSION_SETTINGS
from studies.rates import in_digits, rate_question, rate_sentence
from studies.services import STATE_MEANINGS, STATE_MOVES, change_state
from studies.shortcuts import shortcut_warnings
from studies.summary import RULE, Summary, summarise
from teaching.assignment import teaching_lengths
from teaching.estimates import estimate_sentence

# What decides an outcome, how workers are assigned, and what comes of the outcome: as the paper has it.
PAPER = (
    *(name for name in SESSION_SETTINGS if name not in HARMLESS or name in IN_THE_PAPER),
    "assignment", "primary_outcome", "bonus_share",
)  # fmt: skip
# While one of these is wrong, the study cannot be put into words.
IN_THE_SUMMARY = {*PAPER, "minutes", "reward", "currency"}


def paper_settings() -> dict[str, Any]:
    """The paper's values, which are nearly all the defaults of the fields."""
    return {name: Study.paper_value_of(name) for name in PAPER}


def setup_context(form: Any) -> dict[str, Any]:
    """What the set-up page shows beside the form itself."""
    study = study_in(form)
    is_new = study._state.adding
    return {
        "check_url": reverse("admin:studies_study_check") if is_new else address(study, "check"),
        "paper": paper_settings(),
        "summary": summary_of(study, form.errors),
        "rule": RULE,
        "dataset_warnings": dataset_warnings(study),
        "rate": rate_of(study, form.errors),
        "meaning": STATE_MEANINGS[study.state],
        "moves": () if is_new else STATE_MOVES[study.state],
        "under_way": 0 if is_new else number_under_way(study),
        "checks_in_words": "" if is_new else how_many(check_list(as_stored(study))),
    }


def study_in(form: Any) -> Study:
    """The study of a form, with the data set that the link to a new form names."""
    study: Study = form.instance
    if not form.is_bound and not study.dataset_id and form.initial.get("dataset"):
        with suppress(ValidationError):
            study.dataset = form.fields["dataset"].clean(form.initial["dataset"])
    return study


def as_stored(study: Study) -> Study:
    """Without what was typed into a form that came back with errors."""
    return Study.objects.select_related("dataset").get(pk=study.pk)


def dataset_warnings(study: Study) -> list[str]:
    """What is known about shortcuts in the images; nothing while no data set is chosen."""
    return shortcut_warnings(study.dataset) if study.dataset_id else []


def rate_of(study: Study, wrong: Collection[str]) -> dict[str, str]:
    """What the form says about the learning rate; nothing while there is none or no data set to compare it with."""
    if not study.dataset_id or "learning_rate" in wrong:
        return {"suggested": "", "sentence": "", "question": ""}
    return {
        "suggested": in_digits(study.dataset.learning_rate),
        "sentence": rate_sentence(study),
        "question": rate_question(study),
    }


def number_under_way(study: Study) -> int:
    """Everybody in the middle of a real session: no previews and no bots."""
    real = (Participant.Purpose.LIVE, Participant.Purpose.PILOT)
    seen_lately = study.participants.under_way().filter(last_seen_at__gte=study.cutoff)
    return seen_lately.filter(purpose__in=real).count()


def summary_of(study: Study, wrong: Collection[str]) -> Summary | None:
    if IN_THE_SUMMARY & set(wrong):
        return None
    summary = summarise(study, teaching_lengths(study))
    return replace(summary, advice=" ".join([summary.advice, *own_ways(study)]))


def own_ways(study: Study) -> list[str]:
    """What the study assumes about learners otherwise than the paper does."""
    return [words for words in (decay_sentence(study), estimate_sentence(study)) if words]


def changes_of(study: Study) -> list[Difference]:
    """What saving would change for those who join later; nothing while nobody has joined."""
    version = study.current_version
    return differences(version.configuration, study.configuration()) if version else []


def verdict(form: Any) -> JsonResponse:
    """The checks that saving runs, without saving."""
    summary = summary_of(form.instance, form.errors)
    return JsonResponse(
        {
            "errors": {
                name: [str(why) for why in reasons] for name, reasons in form.errors.items()
            },
            "summary": summary and {"sentence": summary.sentence, "advice": summary.advice},
            "warnings": dataset_warnings(form.instance),
            "rate": rate_of(form.instance, form.errors),
            "changes": [str(change) for change in changes_of(form.instance)],
        }
    )


def check(request: HttpRequest, study: Study) -> HttpResponse:
    form_class = admin.site.get_model_admin(Study).get_form(request, study, change=True)
    return verdict(form_class(request.POST, instance=study))


def state(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        change_state(study, request.POST.get("state", ""), request.user)
    except StateNotAllowed as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"The study is now {study.state}. {STATE_MEANINGS[study.state]}")
    came_from_monitor = request.POST.get("back") == "monitor"
    return HttpResponseRedirect(
        address(study, "monitor") if came_from_monitor else form_address(study)
    )


def form_address(study: Study) -> str:
    return reverse("admin:studies_study_change", args=[study.pk])


PAGES = (
    AdminPage(form_address, title="Set-up"),
    Page("check", "check/", check, edits=True, posts=True),
    Page("state", "state/", state, edits=True, posts=True),
)
