"""Access tokens in the admin: created and shown once, used by programs, revoked with one button."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from desk.models import AccessToken
from studies import audit
from studies.models import AuditEntry, digest_of

from .sharing import VisibleRows


class NewTokenForm(forms.ModelForm[AccessToken]):
    days = forms.TypedChoiceField(
        label="Works for",
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year")],
        coerce=int,
        initial=90,
        help_text="Afterwards it stops by itself. Make another one then.",
    )

    class Meta:
        model = AccessToken
        fields = ["name"]


@admin.register(AccessToken)
class AccessTokenAdmin(VisibleRows):
    list_display = ["name", "user", "created_at", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    form = NewTokenForm
    add_form_template = "admin/desk/access/token_add.html"
    change_form_template = "admin/desk/access/token.html"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # The secret is shown next, however the form is saved: one button is enough.
        one_button = {"show_save_and_continue": False, "show_save_and_add_another": False}
        return super().add_view(request, form_url, one_button | (extra_context or {}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        kept = ["name", "user", "created_at", "expires_at", "last_used_at", "revoked_at"]
        return kept if obj else ["name", "days"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # A revoked token stays in the list: it is worth knowing who used what, and until when.
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.user = request.user
        obj.secret = AccessToken.new_secret()
        obj.digest = digest_of(obj.secret)
        obj.expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        super().save_model(request, obj, form, change)
        self.note(request, f"Created the access token {obj.name}.")

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The secret, on a page of its own, which the admin lets no browser cache: it is shown only once."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Your access token",
            "opts": AccessToken._meta,
            "secret": obj.secret,
        }
        return TemplateResponse(request, "admin/desk/access/token_made.html", context)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.revoke))
        return [path("<int:pk>/revoke/", view, name="token_revoke"), *super().get_urls()]

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        token = get_object_or_404(AccessToken.objects.visible_to(request.user), pk=pk)
        with transaction.atomic():
            token.revoke()
            self.note(request, f"Revoked the access token {token.name}.")
        messages.success(request, f"“{token.name}” was revoked and no longer works.")
        return HttpResponseRedirect(reverse("admin:desk_accesstoken_changelist"))

    def note(self, request: HttpRequest, detail: str) -> None:
        audit.record(AuditEntry.Action.TOKEN, detail, actor=request.user)
