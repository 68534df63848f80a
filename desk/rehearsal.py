"""The rehearsal page of a study: bots that take the study, and a forecast with simulated participants."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect

from desk.page import Page, address, study_page
from rehearsal.models import Rehearsal
from studies.models import Participant, Study
from teaching.ceiling import ceiling_sentence

MAX_LISTED = 8


class RehearsalForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Rehearsal
        fields = ["workers", "is_paced"]


class PowerForm(forms.Form):
    effect = forms.FloatField(label="Difference, points", min_value=0.1, max_value=100, initial=10)
    alpha = forms.FloatField(label="α", min_value=0.0001, max_value=0.5, initial=0.05)
    power = forms.FloatField(label="Power, %", min_value=10, max_value=99.9, initial=80)


def rehearsal(request: HttpRequest, study: Study) -> HttpResponse:
    from rehearsal import services

    forecast = services.newest_forecast(study)
    initial = {name: field.initial for name, field in PowerForm.base_fields.items()}
    power_form = PowerForm(request.GET if "effect" in request.GET else initial)
    bots = study.participants.filter(purpose=Participant.Purpose.REHEARSAL)
    context: dict[str, Any] = {
        "form": RehearsalForm(),
        "power_form": power_form,
        "rehearsals": study.rehearsals.all()[:MAX_LISTED],
        "sessions": bots.count(),
        "finished": bots.completed().count(),
        "forecast": forecast,
        "ceiling": ceiling_sentence(study.dataset),
    }
    if forecast and power_form.is_valid():
        # SciPy takes a moment to load.
        from analysis.stats.power import Question
        from rehearsal.forecast_page import forecast_content

        values = power_form.cleaned_data
        question = Question(values["effect"] / 100, values["alpha"], values["power"] / 100)
        context |= forecast_content(study, forecast, question)
    return study_page(request, study, "admin/desk/rehearsal.html", "Rehearsal", context)


def start(request: HttpRequest, study: Study, kind: str) -> HttpResponseBase:
    """Queue a rehearsal or a forecast for the background worker."""
    form = RehearsalForm(request.POST)
    if not form.is_valid():
        messages.error(
            request, "; ".join(str(e) for errors in form.errors.values() for e in errors)
        )
    elif any(one.is_under_way for one in study.rehearsals.filter(kind=kind)[:MAX_LISTED]):
        messages.warning(request, "One is already under way. Start another when it is done.")
    else:
        form.instance.study, form.instance.kind = study, kind
        form.instance.created_by = request.user
        form.save().enqueue()
    return redirect(address(study, "rehearsal"))


def state(request: HttpRequest, study: Study) -> HttpResponse:
    """The progress of the rehearsals as JSON, polled by the page."""
    rows = [
        {
            "id": one.pk,
            "text": one.status,
            "share": one.share,
            "ended": one.ended,
            "is_under_way": one.is_under_way,
        }
        for one in study.rehearsals.all()[:MAX_LISTED]
    ]
    return JsonResponse({"rehearsals": rows})


start_bots = partial(start, kind=Rehearsal.Kind.BOTS)
start_forecast = partial(start, kind=Rehearsal.Kind.FORECAST)

PAGES = (
    Page("rehearsal", "rehearsal/", rehearsal, title="Rehearsal"),
    Page("rehearsal_state", "rehearsal/state/", state),
    Page("rehearse", "rehearsal/bots/", start_bots, edits=True, posts=True),
    Page("forecast", "rehearsal/forecast/", start_forecast, edits=True, posts=True),
)
