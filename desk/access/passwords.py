"""Setting passwords: by a link that works once, and in the admin. A new password can revoke access tokens."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminPasswordChangeForm as OwnPasswordChangeForm
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.auth.views import PasswordChangeView, PasswordResetConfirmView
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from desk.models import AccessToken, PasswordLink
from studies import audit
from studies.keys import new_key
from studies.models import AuditEntry


class PasswordLinkTokens(PasswordResetTokenGenerator):
    """Django's tokens, which die with their first use or after PASSWORD_RESET_TIMEOUT, bound to the newest link."""

    def check_token(self, user: Any, token: str | None) -> bool:
        has_link = user is not None and PasswordLink.objects.filter(user=user).exists()
        return has_link and user.is_active and super().check_token(user, token)

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        link = PasswordLink.objects.filter(user=user).values_list("key", flat=True).first()
        return f"{super()._make_hash_value(user, timestamp)}{link}"


password_link_tokens = PasswordLinkTokens()


def make_password_link(user: User) -> str:
    """A URL that sets the password of an account, once, within three days. Earlier links stop working."""
    PasswordLink.objects.update_or_create(user=user, defaults={"key": new_key()})
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = password_link_tokens.make_token(user)
    return settings.JEDI_PUBLIC_URL + reverse("first_password", args=[uid, token])


class SetPassword(PasswordResetConfirmView):
    """Sets the password and signs in: whoever has the link knows the new password anyway."""

    template_name = "registration/set_password.html"
    success_url = reverse_lazy("admin:index")
    token_generator = password_link_tokens
    post_reset_login = True
    post_reset_login_backend = "django.contrib.auth.backends.ModelBackend"

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        revoke_tokens(form.user, actor=form.user)
        return response


def revoke_tokens(user: User, *, actor: Any) -> None:
    """Revoke every valid access token of an account whose password was changed."""
    tokens = AccessToken.objects.filter(user=user).valid()
    names = ", ".join(tokens.values_list("name", flat=True))
    if tokens.update(revoked_at=timezone.now()):
        detail = f"Revoked the access tokens of {user.get_username()} with a new password: {names}."
        audit.record(AuditEntry.Action.TOKEN, detail, actor=actor)


class RevokeTokensMixin(forms.Form):
    """A checkbox for the forms that change a password, if the account has valid tokens."""

    revoke_tokens = forms.BooleanField(
        label="Revoke the access tokens of this account",
        required=False,
        initial=True,
        help_text="Programs that use one stop working until they get a new one. Keep the tokens only if you are sure "
        "that nobody else knows them.",
    )

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(user, *args, **options)  # type: ignore[arg-type]
        if not AccessToken.objects.filter(user=user).valid().exists():
            del self.fields["revoke_tokens"]


class OwnPasswordForm(RevokeTokensMixin, OwnPasswordChangeForm):
    pass


class AccountPasswordForm(RevokeTokensMixin, AdminPasswordChangeForm):
    pass


class ChangeOwnPassword(PasswordChangeView):
    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        if form.cleaned_data.get("revoke_tokens"):
            revoke_tokens(form.user, actor=form.user)
        return response
