"""Researchers' accounts in the admin: creation, passwords and access tokens."""

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected
from django.contrib.admin.forms import AdminPasswordChangeForm as OwnPasswordChangeForm
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.auth.views import PasswordChangeView, PasswordResetConfirmView
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse, reverse_lazy
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.views.decorators.http import require_POST

from desk.models import AccessToken, PasswordLink
from desk.sharing import RESEARCHERS, VisibleRows
from studies import audit
from studies.keys import new_key
from studies.models import AuditEntry, digest_of

# Passwords


class PasswordLinkTokens(PasswordResetTokenGenerator):
    """Django's single-use tokens, valid only for the newest link of an active account."""

    def check_token(self, user: Any, token: str | None) -> bool:
        has_link = user is not None and PasswordLink.objects.filter(user=user).exists()
        return has_link and user.is_active and super().check_token(user, token)

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        link = PasswordLink.objects.filter(user=user).values_list("key", flat=True).first()
        return f"{super()._make_hash_value(user, timestamp)}{link}"


password_link_tokens = PasswordLinkTokens()


def make_password_link(user: User) -> str:
    """Create a single-use URL that sets the password of an account within three days. Earlier links stop working."""
    PasswordLink.objects.update_or_create(user=user, defaults={"key": new_key()})
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = password_link_tokens.make_token(user)
    return settings.JEDI_PUBLIC_URL + reverse("first_password", args=[uid, token])


class SetPassword(PasswordResetConfirmView):
    """Set the password and sign in: whoever has the link knows the new password anyway."""

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


# Accounts

admin.site.unregister(User)
# Django logs a deletion and deletes in two transactions; make it one.
admin.site.add_action(transaction.atomic(delete_selected), "delete_selected")


class NewAccountForm(forms.ModelForm):
    """Without a password, which only the account's owner may know."""

    class Meta:
        model = User
        fields = ["username", "first_name", "last_name", "email"]

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit=False)
        user.set_unusable_password()
        user.is_staff = True
        if commit:
            user.save()
        return user


@admin.register(User)
class AccountAdmin(UserAdmin):
    add_form = NewAccountForm
    change_password_form = AccountPasswordForm
    add_form_template = "admin/desk/account_add.html"
    change_form_template = "admin/desk/account.html"
    add_fieldsets = [(None, {"fields": ["username", "first_name", "last_name", "email"]})]
    list_display = [
        "username",
        "first_name",
        "last_name",
        "is_researcher",
        "is_superuser",
        "is_active",
    ]
    list_filter = ["is_superuser", "is_active", "groups"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(boolean=True, description="researcher")
    def is_researcher(self, user: User) -> bool:
        return user.is_staff and any(group.name == RESEARCHERS for group in user.groups.all())

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            PasswordLink.objects.filter(user=obj).delete()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change:
            form.instance.groups.add(Group.objects.get(name=RESEARCHERS))

    def response_add(
        self, request: HttpRequest, obj: User, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.show_link(request, obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.new_link))
        return [path("<int:pk>/link/", view, name="account_link"), *super().get_urls()]

    @transaction.atomic
    def user_change_password(self, *args: Any, **options: Any) -> HttpResponse:
        """Django sets the password and logs it in two transactions; make it one."""
        return super().user_change_password(*args, **options)

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """Revoke the tokens if requested: this is the only hook after a new password was saved."""
        if isinstance(form, AccountPasswordForm) and form.cleaned_data.get("revoke_tokens"):
            revoke_tokens(form.user, actor=request.user)
        return super().construct_change_message(request, form, formsets, add)

    @transaction.atomic
    def new_link(self, request: HttpRequest, pk: int) -> HttpResponse:
        """For a forgotten password. The old one works until the link is used."""
        if not request.user.is_superuser:
            raise PermissionDenied
        return self.show_link(request, get_object_or_404(User, pk=pk, is_active=True))

    def show_link(self, request: HttpRequest, user: User) -> HttpResponse:
        """Show the link. The admin prevents caching of its pages."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"Account of {user.get_username()}",
            "opts": User._meta,
            "account": user,
            "link": make_password_link(user),
        }
        return TemplateResponse(request, "admin/desk/account_link.html", context)


# Access tokens


class NewTokenForm(forms.ModelForm[AccessToken]):
    days = forms.TypedChoiceField(
        label="Works for",
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year")],
        coerce=int,
        initial=90,
        help_text="It then expires; create a new one.",
    )

    class Meta:
        model = AccessToken
        fields = ["name"]


@admin.register(AccessToken)
class AccessTokenAdmin(VisibleRows):
    list_display = ["name", "user", "created_at", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    form = NewTokenForm
    add_form_template = "admin/desk/token_add.html"
    change_form_template = "admin/desk/token.html"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # The secret is shown next, so one button is enough.
        one_button = {"show_save_and_continue": False, "show_save_and_add_another": False}
        return super().add_view(request, form_url, one_button | (extra_context or {}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.list_display if obj else ["name", "days"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Revoked tokens stay in the list, which says who used what and until when.
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.user = request.user
        obj.secret = AccessToken.new_secret()
        obj.digest = digest_of(obj.secret)
        obj.expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        super().save_model(request, obj, form, change)
        self.audit(request, f"Created the access token {obj.name}.")

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret, once. The admin prevents caching of its pages."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Your access token",
            "opts": AccessToken._meta,
            "secret": obj.secret,
        }
        return TemplateResponse(request, "admin/desk/token_made.html", context)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.revoke))
        return [path("<int:pk>/revoke/", view, name="token_revoke"), *super().get_urls()]

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        token = get_object_or_404(AccessToken.objects.visible_to(request.user), pk=pk)
        with transaction.atomic():
            token.revoke()
            self.audit(request, f"Revoked the access token {token.name}.")
        messages.success(request, f"“{token.name}” was revoked and no longer works.")
        return HttpResponseRedirect(reverse("admin:desk_accesstoken_changelist"))

    def audit(self, request: HttpRequest, detail: str) -> None:
        audit.record(AuditEntry.Action.TOKEN, detail, actor=request.user)
