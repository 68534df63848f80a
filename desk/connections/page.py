"""A study's connections to other programs: the webhook with its deliveries, and the way to the API."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from desk.base.pages import Page, address, study_page
from studies import audit
from studies.keys import new_token
from studies.models import AuditEntry, Study

from . import outbound, webhooks

DELIVERIES = 50


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
        "deliveries": study.webhook_deliveries.select_related("participant")[:DELIVERIES],
        "most_tries": webhooks.MOST_TRIES,
        "api_url": request.build_absolute_uri(reverse("api-v1-study", args=[study.slug])),
    }
    return study_page(request, study, "admin/desk/connections/page.html", "Connections", context)


def set_webhook(request: HttpRequest, study: Study) -> HttpResponse:
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _page(request, study, form)
    url = form.cleaned_data["webhook_url"]
    Study.objects.filter(pk=study.pk).update(webhook_url=url)
    _note(request, study, f"Set the webhook to {url}." if url else "Removed the webhook.")
    messages.success(request, "The webhook was set." if url else "The webhook was removed.")
    return _back(study)


def renew_secret(request: HttpRequest, study: Study) -> HttpResponse:
    Study.objects.filter(pk=study.pk).update(webhook_secret=new_token())
    _note(request, study, "Created a new secret for the webhook.")
    messages.success(request, "From now on, deliveries are signed with the new secret.")
    return _back(study)


def test_webhook(request: HttpRequest, study: Study) -> HttpResponse:
    if study.webhook_url:
        webhooks.announce_test(study)
        messages.success(request, "A test is on its way. Reload this page to see the result.")
    else:
        messages.error(request, "Set an address first.")
    return _back(study)


def _note(request: HttpRequest, study: Study, detail: str) -> None:
    """Sending results to another server is a way of sharing them."""
    audit.record(AuditEntry.Action.SHARE, detail, study=study, actor=request.user)


def _back(study: Study) -> HttpResponse:
    return HttpResponseRedirect(address(study, "connections"))


PAGES = (
    Page("connections", "connections/", connections, title="Connections"),
    Page("set_webhook", "connections/webhook/", set_webhook, edits=True, posts=True),
    Page("renew_secret", "connections/secret/", renew_secret, edits=True, posts=True),
    Page("test_webhook", "connections/test/", test_webhook, edits=True, posts=True),
)
