"""A study's set-up: its state, a summary of its settings, the fields of its form, and validation as you type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

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
from teaching.teachers import known_teachers, teacher_title

from .checks import check_list, check_summary
from .documentation import DOCUMENTS, document_title, document_url
from .page import AdminPage, Page, address
from .versions import differences

# The settings that the paper determines: what decides an outcome, how participants are assigned, and the bonus.
PAPER_SETTINGS = (
    *(name for name in SESSION_SETTINGS if name not in HARMLESS or name in IN_THE_PAPER),
    "assignment", "primary_outcome", "bonus_share",
)  # fmt: skip
# The study cannot be summarised while one of these is invalid.
SUMMARY_SETTINGS = {*PAPER_SETTINGS, "minutes", "reward", "currency"}


def paper_settings() -> dict[str, Any]:
    return {name: Study.paper_value_of(name) for name in PAPER_SETTINGS}


def setup_context(form: Any) -> dict[str, Any]:
    """What the set-up page shows in addition to the form."""
    study: Study = form.instance
    is_new = study._state.adding
    if not form.is_bound and not study.dataset_id and form.initial.get("dataset"):
        # The link to an empty form can name the data set.
        with suppress(ValidationError):
            study.dataset = form.fields["dataset"].clean(form.initial["dataset"])
    context = {
        "paper": paper_settings(),
        "rule": RULE,
        "meaning": STATE_MEANINGS[study.state],
        "summary": summary_of(study, form.errors),
        "dataset_warnings": dataset_warnings(study),
        "rate": rate_context(study, form.errors),
    }
    if is_new:
        return context | {
            "check_url": reverse("admin:studies_study_check"),
            "moves": (),
            "under_way": 0,
            "checks_summary": "",
        }
    # A form with errors has changed its instance.
    stored = Study.objects.select_related("dataset").get(pk=study.pk)
    return context | {
        "check_url": address(study, "check"),
        "moves": STATE_MOVES[study.state],
        "under_way": number_under_way(study),
        "checks_summary": check_summary(check_list(stored)),
    }


def dataset_warnings(study: Study) -> list[str]:
    """Warnings about shortcuts in the images; none while no data set is selected."""
    return shortcut_warnings(study.dataset) if study.dataset_id else []


def rate_context(study: Study, errors: Collection[str]) -> dict[str, str]:
    """The notes on the learning rate; empty while there is no rate or no data set to compare it with."""
    if not study.dataset_id or "learning_rate" in errors:
        return {"suggested": "", "sentence": "", "question": ""}
    return {
        "suggested": in_digits(study.dataset.learning_rate),
        "sentence": rate_sentence(study),
        "question": rate_question(study),
    }


def number_under_way(study: Study) -> int:
    """The number of live and pilot sessions in progress."""
    people = study.participants.under_way().filter(last_seen_at__gte=study.cutoff)
    return people.filter(purpose__in=(Participant.Purpose.LIVE, Participant.Purpose.PILOT)).count()


def summary_of(study: Study, errors: Collection[str]) -> Summary | None:
    """The study in sentences, with what it assumes about learners that differs from the paper."""
    if SUMMARY_SETTINGS & set(errors):
        return None
    summary = summarise(study, teaching_lengths(study))
    advice = [summary.advice, decay_sentence(study), estimate_sentence(study)]
    return replace(summary, advice=" ".join(sentence for sentence in advice if sentence))


def verdict(form: Any) -> JsonResponse:
    """The validation that saving runs, without saving."""
    study = form.instance
    summary = summary_of(study, form.errors)
    version = study.current_version
    # Nothing is a change while nobody has joined.
    changes = differences(version.configuration, study.configuration()) if version else []
    return JsonResponse(
        {
            "errors": {
                name: [str(error) for error in errors] for name, errors in form.errors.items()
            },
            "summary": summary and {"sentence": summary.sentence, "advice": summary.advice},
            "warnings": dataset_warnings(study),
            "rate": rate_context(study, form.errors),
            "changes": [str(change) for change in changes],
        }
    )


def check(request: HttpRequest, study: Study) -> HttpResponse:
    form_class = admin.site.get_model_admin(Study).get_form(request, study, change=True)
    return verdict(form_class(request.POST, instance=study))


def state(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        change_state(study, request.POST.get("state", ""), request.user)
    except StateNotAllowed as error:
        messages.error(request, error.message)
    else:
        mode = "in pilot mode" if study.state == Study.State.PILOT else study.get_state_display()
        messages.success(request, f"The study is now {mode}. {STATE_MEANINGS[study.state]}")
    came_from_monitor = request.POST.get("back") == "monitor"
    return HttpResponseRedirect(
        address(study, "monitor") if came_from_monitor else form_address(study)
    )


def form_address(study: Study) -> str:
    return reverse("admin:studies_study_change", args=[study.pk])


# Form fields


def link_documents(text: str) -> SafeString:
    """Turn the titles of documents, in quotation marks, into links to them."""
    html = conditional_escape(text)
    for name in DOCUMENTS:
        title = conditional_escape(document_title(name))
        # In a new tab, because the form may be half filled in.
        link = format_html('<a href="{}" target="_blank">{}</a>', document_url(name), title)
        html = mark_safe(html.replace(f"“{title}”", f"“{link}”"))  # noqa: S308 - every part is escaped
    return html


class OutcomeSelect(forms.Select):
    """The choice of the primary outcome, with an explanation and a picture."""

    def render(self, *args: Any, **options: Any) -> SafeString:
        return super().render(*args, **options) + render_to_string("admin/desk/_outcome.html")


class RateInput(forms.NumberInput):
    """The learning rate. A script shows the suggested rate and warnings next to it."""

    def render(self, *args: Any, **options: Any) -> SafeString:
        return super().render(*args, **options) + render_to_string("admin/desk/_rate.html")


class TeacherChoice(forms.Widget):
    """A checkbox and a position for each teacher; the value is a comma-separated list. A script adds arrows."""

    def render(
        self, name: str, value: Any, attrs: Mapping[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        teachers = known_teachers()
        selected = split_names(value or "")
        rows = [
            {
                "name": teacher,
                "title": teacher_title(teacher),
                "place": place,
                "is_chosen": teacher in selected,
                "description": (
                    teachers[teacher].description
                    if teacher in teachers
                    else "This server has no such teacher."
                ),
            }
            for place, teacher in enumerate(
                [*selected, *(teacher for teacher in teachers if teacher not in selected)], 1
            )
        ]
        return render_to_string("admin/desk/_teachers.html", {"name": name, "rows": rows})

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        """The ticked names in the order of their positions; teachers without a valid one come last."""

        def position(teacher: str) -> int:
            text = data.get(f"{name}-place-{teacher}")
            return int(text) if text and text.isdecimal() and len(text) < 4 else 1_000

        ticked = [teacher for text in data.getlist(name) for teacher in split_names(text)]
        return ",".join(sorted(ticked, key=position))

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        # Without a tick the value is empty, which the form then reports as an error.
        return False

    def id_for_label(self, id_: str) -> str:
        return ""


def split_names(value: str) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()]


PAGES = (
    AdminPage(form_address, title="Set-up"),
    Page("check", "check/", check, edits=True, posts=True),
    Page("state", "state/", state, edits=True, posts=True),
)
