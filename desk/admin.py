"""Studies in the admin, with the URLs of all their pages. Other models are registered next to their pages."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join

from desk import accounts, pages, participants, privacy
from desk.home import often_opened
from desk.page import Page, address
from desk.setup import (
    OutcomeSelect,
    RateInput,
    TeacherChoice,
    link_documents,
    setup_context,
    verdict,
)
from desk.sharing import OwnedStudies, ShareInline
from studies.head_counts import with_counts
from studies.models import Study, StudyVersion
from studies.models.settings import GROUPS, StudySettings, names_in
from studies.rates import rate_question

__all__ = ["StudyAdmin", "accounts", "participants", "privacy"]


def fieldset(settings: type[StudySettings]) -> tuple[str, Any]:
    """One group of settings in the form."""
    group = settings.group
    return group.heading, {"fields": names_in(settings), "description": group.description}


@admin.register(Study)
class StudyAdmin(OwnedStudies):
    change_form_template = "admin/desk/setup.html"
    list_display = ["title", "badge", "dataset", "joined", "completed", "pages"]
    list_filter = ["state"]
    list_select_related = ["dataset"]
    search_fields = ["title", "slug"]
    prepopulated_fields = {"slug": ["title"]}
    readonly_fields = ["link"]
    inlines = [ShareInline]
    fieldsets = [
        ("The study", {"fields": ["title", "slug", "link", "dataset"]}),
        *(fieldset(settings) for settings in GROUPS),
    ]

    class Media:
        css = {"all": ["css/charts.css", "css/desk/setup.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return with_counts(super().get_queryset(request))

    def get_urls(self) -> list[URLPattern]:
        check = self.admin_site.admin_view(self.check_new)
        own = (page for page in pages.PAGES if isinstance(page, Page))
        return [
            path("check/", check, name="studies_study_check"),
            *(page.url(self.admin_site) for page in own),
            *super().get_urls(),
        ]

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **options: Any
    ) -> Any:
        if db_field.name == "arms":
            options |= {
                "widget": TeacherChoice(),
                "help_text": "Tick the teachers of this study. Participants are assigned to them from top to bottom.",
            }
        elif db_field.name == "primary_outcome":
            options["widget"] = OutcomeSelect()
        elif db_field.name == "learning_rate":
            options["widget"] = RateInput()
        field = super().formfield_for_dbfield(db_field, request, **options)
        if field:
            field.help_text = link_documents(str(field.help_text))
        if db_field.name == "dataset" and field:
            # A data set can be shared by several studies, so this form must not offer to delete it.
            field.widget.can_delete_related = False
        return field

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        context |= setup_context(context["adminform"].form)
        if study := context["original"]:
            context |= {"title": f"Set-up of {study}", "subtitle": ""}
        return super().render_change_form(request, context, *args, **options)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": "Studies", **(extra_context or {})})

    def check_new(self, request: HttpRequest) -> HttpResponse:
        """Validate the form of a study that is not saved yet."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        return verdict(self.get_form(request, None)(request.POST))

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        if not change:
            obj.owner = request.user  # type: ignore[assignment]
        before = obj.current_version_id
        super().save_model(request, obj, form, change)
        if question := rate_question(obj):
            messages.warning(request, question)
        if obj.current_version and obj.current_version.pk != before:
            StudyVersion.objects.filter(pk=obj.current_version.pk).update(created_by=request.user)

    @admin.display(description="state", ordering="state")
    def badge(self, study: Study) -> str:
        return format_html(
            '<span class="state state-{}">{}</span>', study.state, study.get_state_display()
        )

    @admin.display(description="live participants", ordering="joined_count")
    def joined(self, study: Any) -> int:
        return int(study.joined_count)

    @admin.display(ordering="done_count")
    def completed(self, study: Any) -> int:
        return int(study.done_count)

    @admin.display(description="pages")
    def pages(self, study: Study) -> str:
        links = format_html_join("", '<a href="{}">{}</a>', often_opened(study))
        return format_html('<div class="study-pages">{}</div>', links)

    @admin.display(description="participants' link")
    def link(self, study: Study) -> str:
        if study._state.adding:
            return "The link appears when the study is saved."
        return format_html(
            '<a href="{0}">{0}</a> <a class="more" href="{1}">More links and a QR code</a>',
            study.public_url,
            address(study, "share"),
        )
