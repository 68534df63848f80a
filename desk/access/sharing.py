"""Who may see and change a study: its colleagues, what its form and filters offer, and who may delete it."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.filters import RelatedFieldListFilter
from django.contrib.auth.models import User
from django.db import models
from django.http import HttpRequest

from desk.base.pages import may_edit
from studies import audit
from studies.models import AuditEntry, Dataset, Study, StudyShare


def may_share(request: HttpRequest, study: Study | None) -> bool:
    """Only the owner shares a study: those it is shared with cannot share it further."""
    return study is None or request.user.is_superuser or study.owner_id == request.user.pk


class ShareInline(admin.TabularInline):
    model = StudyShare
    template = "admin/desk/access/_colleagues.html"
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
            # Accounts are created elsewhere, by superusers.
            field.widget.can_add_related = field.widget.can_change_related = False
            field.widget.can_view_related = False
        return field


class VisibleRows(admin.ModelAdmin):
    """Pages of the rows that the user may see; for others they do not exist."""

    def get_queryset(self, request: HttpRequest) -> Any:
        rows: Any = super().get_queryset(request)
        return rows.visible_to(request.user)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only what the list's own filters ask. Django allows lookups of any field, and a reader could find out a
        recruiter's id, a session's token or a webhook's secret letter by letter."""
        return lookup in set(_lookups(self.list_filter))


def _lookups(filters: Any) -> Iterator[str]:
    for one in filters:
        if isinstance(one, type):
            yield str(one.parameter_name)  # type: ignore[attr-defined]
        else:
            name = one if isinstance(one, str) else one[0]
            yield from (f"{name}__{kind}" for kind in ("exact", "id__exact", "isnull"))


class OwnedStudies(VisibleRows):
    """A study's form for many researchers: each sees, chooses and deletes what is theirs, and it is recorded."""

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
        """Studies are deleted one at a time: the list's action would not check the rights to each of them."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        audit.record(AuditEntry.Action.DELETE, f"Deleted the study {obj.slug}.", actor=request.user)
        super().delete_model(request, obj)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        if formset.model is StudyShare:
            for detail in _changes(formset):
                audit.record(
                    AuditEntry.Action.SHARE, detail, study=form.instance, actor=request.user
                )


def _changes(formset: Any) -> list[str]:
    return [
        *(f"Shared with {share}." for share in formset.new_objects),
        *(f"Now shared with {share}." for share, _ in formset.changed_objects),
        *(f"No longer shared with {share.user}." for share in formset.deleted_objects),
    ]


class VisibleFilter(RelatedFieldListFilter):
    """Offers only the rows that the user may see: a filter must not list other people's studies."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin) -> Any:
        rows = field.related_model._default_manager.visible_to(request.user)
        return [(str(row.pk), str(row)) for row in rows]
