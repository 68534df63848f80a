"""A study's connections to other programs: the webhook with its deliveries, and the way to the API."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from analysis.charts.formatting import UNKNOWN
from analysis.charts.tables import Column, Table, number_columns
from desk.base.cells import minute, participant_link, second
from desk.base.pages import Page, address, study_page
from desk.models import WebhookDelivery
from studies.models import Study

from . import outbound, webhooks

# How many of the last deliveries the page lists.
LISTED = 50
DELIVERIES = (
    Column("Created", cell_class="number"),
    Column("What"),
    Column("Participant"),
    Column("State"),
    *number_columns("Tries"),
    Column("Last try", cell_class="number"),
    Column("Result", cell_class="detail"),
    Column("Next try", cell_class="number"),
)


class WebhookForm(forms.Form):
    webhook_url = forms.CharField(
        label="Address",
        required=False,
        max_length=500,
        help_text="Start it with https://. Leave it empty to send nothing.",
        widget=forms.TextInput({"class": "vTextField", "inputmode": "url", "autocomplete": "off"}),
    )

    def clean_webhook_url(self) -> str:
        url = str(self.cleaned_data["webhook_url"]).strip()
        try:
            if url:
                outbound.resolve(url)
        except outbound.NotSent as problem:
            raise forms.ValidationError(str(problem)) from problem
        return url


def connections(request: HttpRequest, study: Study) -> HttpResponse:
    return _page(request, study, WebhookForm(initial={"webhook_url": study.webhook_url}))


def _page(request: HttpRequest, study: Study, form: WebhookForm) -> HttpResponse:
    context = {
        "form": form,
        "problem": webhook_problem(study),
        "deliveries": delivery_table(study),
        "most_tries": webhooks.MOST_TRIES,
        "api_url": request.build_absolute_uri(reverse("api-v1-study", args=[study.slug])),
    }
    return study_page(request, study, "admin/desk/connections/page.html", "Connections", context)


def webhook_problem(study: Study) -> str:
    """Why nothing is sent to the stored address, which may be from a release or a setting that allowed it."""
    try:
        if study.webhook_url:
            outbound.parsed(study.webhook_url)
    except outbound.NotSent as problem:
        return str(problem)
    return ""


def delivery_table(study: Study) -> Table:
    newest = study.webhook_deliveries.select_related("participant")[:LISTED]
    return Table("Deliveries", DELIVERIES, [delivery_row(delivery) for delivery in newest])


def delivery_row(delivery: WebhookDelivery) -> list[Any]:
    person = delivery.participant
    is_tried_again = delivery.tries and delivery.state == WebhookDelivery.State.WAITING
    return [
        second(delivery.created_at),
        delivery.get_event_display(),
        participant_link(person.pk, person.code) if person else UNKNOWN,
        delivery.get_state_display(),
        delivery.tries,
        second(delivery.tried_at) if delivery.tried_at else UNKNOWN,
        delivery.answer or UNKNOWN,
        minute(delivery.next_try_at) if is_tried_again else UNKNOWN,
    ]


def set_webhook(request: HttpRequest, study: Study) -> HttpResponse:
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _page(request, study, form)
    url = form.cleaned_data["webhook_url"]
    webhooks.set_address(study, url, request.user)
    messages.success(request, "The webhook was set." if url else "The webhook was removed.")
    return redirect(address(study, "connections"))


def renew_secret(request: HttpRequest, study: Study) -> HttpResponse:
    webhooks.renew_secret(study, request.user)
    messages.success(request, "From now on, deliveries are signed with the new secret.")
    return redirect(address(study, "connections"))


def test_webhook(request: HttpRequest, study: Study) -> HttpResponse:
    if study.webhook_url:
        webhooks.announce_test(study)
        messages.success(request, "A test is on its way. Reload this page to see the result.")
    else:
        messages.error(request, "Set an address first.")
    return redirect(address(study, "connections"))


PAGES = (
    Page("connections", "connections/", connections, title="Connections"),
    Page("set_webhook", "connections/webhook/", set_webhook, edits=True, posts=True),
    Page("renew_secret", "connections/secret/", renew_secret, edits=True, posts=True),
    Page("test_webhook", "connections/test/", test_webhook, edits=True, posts=True),
)
