"""Researchers' accounts: a superuser creates them and hands over a single-use link that sets the password."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.actions import delete_selected
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from desk.models import PasswordLink

from .passwords import AccountPasswordForm, make_password_link, revoke_tokens
from .roles import RESEARCHERS

admin.site.unregister(User)
# Django logs what it is about to delete, and deletes it, each for itself.
admin.site.add_action(transaction.atomic(delete_selected), "delete_selected")


class NewAccountForm(forms.ModelForm):
    """Nobody but its owner ever knows an account's password."""

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
    add_form_template = "admin/desk/access/account_add.html"
    change_form_template = "admin/desk/access/account.html"
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
        """Django sets the password and logs that it did, each for itself."""
        return super().user_change_password(*args, **options)

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """The only hook of user_change_password after a new password was saved."""
        if isinstance(form, AccountPasswordForm) and form.cleaned_data.get("revoke_tokens"):
            revoke_tokens(form.user, actor=request.user)
        return super().construct_change_message(request, form, formsets, add)

    @transaction.atomic
    def new_link(self, request: HttpRequest, pk: int) -> HttpResponse:
        """For somebody who has forgotten the password: the old one works until the link is used."""
        if not request.user.is_superuser:
            raise PermissionDenied
        return self.show_link(request, get_object_or_404(User, pk=pk, is_active=True))

    def show_link(self, request: HttpRequest, user: User) -> HttpResponse:
        """The link, on a page of its own, which the admin lets no browser cache."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"Account of {user.get_username()}",
            "opts": User._meta,
            "account": user,
            "link": make_password_link(user),
        }
        return TemplateResponse(request, "admin/desk/access/account_link.html", context)
