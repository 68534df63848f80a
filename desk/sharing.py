"""Who may see and change what: the role of a researcher, and sharing a study with colleagues.

Permissions say what a user may do at all; `visible_to` and `editable_by` decide with which studies.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import AppConfig, apps
from django.contrib import admin
from django.contrib.admin.filters import RelatedFieldListFilter
from django.contrib.auth.models import Group, Permission, User
from django.db import models
from django.db.models import Q
from django.http import HttpRequest

from desk.page import may_edit
from studies import audit
from studies.models import AuditEntry, Dataset, Study, StudyShare

RESEARCHERS = "Researchers"

# What researchers may do with their own objects, by app and model.
PERMISSIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("studies", "study"): ("view", "add", "change", "delete"),
    ("studies", "studyshare"): ("view", "add", "change", "delete"),
    ("studies", "participant"): ("view",),
    ("studies", "dataset"): ("view", "delete"),
    ("studies", "auditentry"): ("view",),
    ("datasets", "import"): ("view", "add", "delete"),
    ("desk", "accesstoken"): ("view", "add"),
}


def last_app() -> AppConfig:
    """The last of these apps to be migrated. After it, all of the permissions exist."""
    labels = {label for label, _ in PERMISSIONS}
    return [app for app in apps.get_app_configs() if app.label in labels][-1]


def create_researchers_group(using: str, **options: Any) -> None:
    """Signal receiver, called after every migration. Keeps permissions that a superuser added."""
    permissions = Q()
    for (label, model), actions in PERMISSIONS.items():
        names = [f"{action}_{model}" for action in actions]
        permissions |= Q(content_type__app_label=label, codename__in=names)
    group, _ = Group.objects.using(using).get_or_create(name=RESEARCHERS)
    group.permissions.add(*Permission.objects.using(using).filter(permissions))


def may_share(request: HttpRequest, study: Study | None) -> bool:
    """Only the owner shares a study; colleagues cannot share it further."""
    return study is None or request.user.is_superuser or study.owner_id == request.user.pk


class ShareInline(admin.TabularInline):
    model = StudyShare
    template = "admin/desk/_colleagues.html"
    extra = 0
    verbose_name_plural = "colleagues"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_share(request, obj) and super().has_add_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_share(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_share(request, obj) and super().has_delete_permission(request, obj)

    def formfield_for_foreignkey(
        self, db_field: models.ForeignKey[Any, Any], request: HttpRequest, **options: Any
    ) -> Any:
        if db_field.name == "user":
            staff = User.objects.filter(is_staff=True, is_active=True)
            options["queryset"] = staff.exclude(username=request.user.get_username())
        field = super().formfield_for_foreignkey(db_field, request, **options)
        if field and db_field.name == "user":
            # Only superusers create accounts.
            field.widget.can_add_related = field.widget.can_change_related = False
            field.widget.can_view_related = False
        return field


class VisibleRows(admin.ModelAdmin):
    """Admin pages for rows that the user may see. For other users the rows do not exist."""

    def get_queryset(self, request: HttpRequest) -> Any:
        rows: Any = super().get_queryset(request)
        return rows.visible_to(request.user)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only the lookups of the list's filters.

        Django allows lookups of any local field, so a reader could find out a platform id, a session token or a
        webhook secret letter by letter.
        """
        return lookup in set(self._filter_lookups())

    def _filter_lookups(self) -> Iterator[str]:
        filters: Any = self.list_filter
        for one in filters:
            if isinstance(one, type):
                yield str(one.parameter_name)  # type: ignore[attr-defined]
            else:
                name = one if isinstance(one, str) else one[0]
                yield from (f"{name}__{kind}" for kind in ("exact", "id__exact", "isnull"))


class OwnedStudies(VisibleRows):
    """The admin of studies: researchers see, select and delete only what is theirs."""

    def formfield_for_foreignkey(
        self, db_field: models.ForeignKey[Any, Any], request: HttpRequest, **options: Any
    ) -> Any:
        if db_field.name == "dataset":
            options["queryset"] = Dataset.objects.visible_to(request.user).defer("insight")
        return super().formfield_for_foreignkey(db_field, request, **options)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        has_right = super().has_change_permission(request, obj)
        return has_right if obj is None else has_right and may_edit(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        has_right = super().has_delete_permission(request, obj)
        return has_right if obj is None else has_right and may_share(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Remove the bulk deletion, which does not check permissions for each study."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        audit.record(AuditEntry.Action.DELETE, f"Deleted the study {obj.slug}.", actor=request.user)
        super().delete_model(request, obj)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        if formset.model is StudyShare:
            details = [
                *(f"Shared with {share}." for share in formset.new_objects),
                *(f"Now shared with {share}." for share, _ in formset.changed_objects),
                *(f"No longer shared with {share.user}." for share in formset.deleted_objects),
            ]
            for detail in details:
                audit.record(
                    AuditEntry.Action.SHARE, detail, study=form.instance, actor=request.user
                )


class VisibleFilter(RelatedFieldListFilter):
    """A filter that lists only the rows that the user may see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin) -> Any:
        rows = field.related_model._default_manager.visible_to(request.user)
        return [(str(row.pk), str(row)) for row in rows]
