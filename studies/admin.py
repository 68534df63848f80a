"""Data sets and studies in the admin."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from . import services
from .dataset_page import dataset_page
from .models import Dataset, Example, Participant, Study


class ReadOnly:
    """For what the server writes and nobody edits."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Dataset)
class DatasetAdmin(ReadOnly, admin.ModelAdmin):
    list_display = [
        "name",
        "version",
        "classes",
        "teaching_images",
        "evaluation_images",
        "created_at",
    ]
    change_form_template = "admin/studies/dataset.html"
    readonly_fields = ["classes", "teaching_images", "evaluation_images"]
    fields = [
        "classes", "teaching_images", "evaluation_images", "extractor", "learning_rate", "seed", "created_at",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        def number_in(split: str) -> Count:
            return Count("examples", filter=Q(examples__split=split))

        counts = {f"in_{split}": number_in(split) for split in Example.Split.values}
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.annotate(**counts)  # type: ignore[no-any-return]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # A data set that a study uses is part of the study's record.
        is_free = obj is None or not obj.studies.exists()
        return is_free and admin.ModelAdmin.has_delete_permission(self, request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # One at a time, each with its own check.
        return {}

    def delete_model(self, request: HttpRequest, obj: Dataset) -> None:
        services.delete_dataset(obj)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        dataset = self.get_object(request, object_id)
        page = dataset_page(dataset) if dataset else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | page)

    def get_urls(self) -> list[URLPattern]:
        image = self.admin_site.admin_view(self.image)
        return [path("images/<str:key>", image, name="example_image"), *super().get_urls()]

    def image(self, request: HttpRequest, key: str) -> FileResponse:
        """Any image of any data set, for researchers who may see data sets."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        example = get_object_or_404(Example.objects.select_related("dataset"), key=key)
        try:
            file = example.dataset.image_path(example).open("rb")
        except FileNotFoundError as error:
            raise Http404 from error
        response = FileResponse(file, content_type="image/jpeg")
        response["Cache-Control"] = "private, max-age=86400"
        return response

    def classes(self, dataset: Dataset) -> str:
        return f"{dataset.negative_class} / {dataset.positive_class}"

    def teaching_images(self, dataset: Any) -> int:
        return int(dataset.in_teaching)

    def evaluation_images(self, dataset: Any) -> int:
        return int(dataset.in_evaluation)


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin):
    change_form_template = "admin/studies/study.html"
    list_display = ["title", "state", "dataset", "joined", "completed", "results"]
    list_filter = ["state"]
    list_select_related = ["dataset"]
    prepopulated_fields = {"slug": ["title"]}
    readonly_fields = ["link", "results"]
    fieldsets = [
        (None, {"fields": ["title", "slug", "dataset", "state", "link", "results"]}),
        (
            "What workers read and get",
            {
                "fields": ["welcome", "consent", "minutes", "shows_score", "completion_code", "return_url"],
            },
        ),
        ("Taking part", {"fields": ["max_participants", "session_hours", "bonus_share", "seed"]}),
        (
            "Module 1: memory test",
            {
                "fields": [
                    "memory_trials", "memory_min_length", "memory_max_length", "memory_extra_seconds",
                    "memory_practice",
                ],
            },
        ),
        (
            "Module 2: teaching",
            {
                "fields": [
                    "arms", "assignment", "cold_start", "short_steps", "medium_steps", "long_steps",
                    "short_memory_up_to", "medium_memory_up_to", "other_steps",
                    "learning_rate", "learning_rate_decay", "repeat_window", "min_look_ms",
                ],
            },
        ),
        ("Module 3: evaluation", {"fields": ["evaluation_size"]}),
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        done = Count("participants", filter=Q(participants__stage=Participant.Stage.DONE))
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.annotate(joined_count=Count("participants"), done_count=done)  # type: ignore[no-any-return]

    def joined(self, study: Any) -> int:
        return int(study.joined_count)

    def completed(self, study: Any) -> int:
        return int(study.done_count)

    @admin.display(description="workers' link")
    def link(self, study: Study) -> str:
        if study._state.adding:
            return "The link appears when the study is saved."
        return format_html('<a href="{0}">{0}</a>', study.public_url)

    @admin.display(description="results")
    def results(self, study: Study) -> str:
        if study._state.adding:
            return "–"
        people = reverse("admin:studies_participant_changelist") + f"?study__id__exact={study.pk}"
        gain = reverse("admin:gain_csv", args=[study.slug])
        return format_html(
            '<a href="{}">Results</a> · <a href="{}">Participants</a> · '
            '<a href="{}">Teaching gain (CSV)</a> · <a href="{}">Workers’ page</a>',
            reverse("admin:study_results", args=[study.slug]),
            people,
            gain,
            study.get_absolute_url(),
        )
