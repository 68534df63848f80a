"""Data sets in the admin."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path

from image_datasets import services
from image_datasets.page import dataset_page
from studies import audit
from studies.models import AuditEntry, Dataset, Example
from studies.read_only import ReadOnly

from .classes import classes_page
from .pages import PageAdmin


@admin.register(Dataset)
class DatasetAdmin(ReadOnly, PageAdmin):
    list_display = [
        "name",
        "version",
        "classes",
        "teaching_images",
        "evaluation_images",
        "created_at",
    ]
    change_form_template = "admin/datasets/dataset.html"
    readonly_fields = ["classes", "teaching_images", "evaluation_images", "suggested_rate"]
    fields = [
        "classes", "teaching_images", "evaluation_images", "extractor", "suggested_rate", "seed", "created_at",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        def number_in(split: str) -> Count:
            return Count("examples", filter=Q(examples__split=split))

        counts = {f"in_{split}": number_in(split) for split in Example.Split.values}
        rows: QuerySet[Any] = super().get_queryset(request)
        visible = rows.visible_to(request.user)  # type: ignore[attr-defined]
        return visible.annotate(**counts).prefetch_related("classes")  # type: ignore[no-any-return]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # A data set that a study uses is part of the study's record.
        has_right = admin.ModelAdmin.has_delete_permission(self, request, obj)
        if obj is None or not has_right:
            return has_right
        return self.is_own(request, obj) and not obj.studies.exists()

    def delete_model(self, request: HttpRequest, obj: Dataset) -> None:
        name = str(obj)
        services.delete_dataset(obj)
        audit.record(AuditEntry.Action.DELETE, f"Deleted the data set {name}.", actor=request.user)

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        return dataset_page(obj, request.user)

    def get_urls(self) -> list[URLPattern]:
        image = self.admin_site.admin_view(self.image)
        classes = self.admin_site.admin_view(self.classes_page)
        return [
            path("images/<str:key>", image, name="example_image"),
            path("<int:pk>/classes/", classes, name="dataset_classes"),
            *super().get_urls(),
        ]

    def classes_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What workers read and see of the classes; whoever may delete the data set may change it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user), pk=pk)
        may_edit = self.is_own(request, dataset)
        if request.method == "POST" and not may_edit:
            raise PermissionDenied
        context = self.admin_site.each_context(request)
        return classes_page(request, dataset, context, may_edit=may_edit)

    def is_own(self, request: HttpRequest, dataset: Dataset) -> bool:
        return bool(request.user.is_superuser or dataset.owner_id == request.user.pk)

    def image(self, request: HttpRequest, key: str) -> FileResponse:
        """An image of a data set that one may see."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        visible = Dataset.objects.visible_to(request.user)
        examples = Example.objects.filter(dataset__in=visible).select_related("dataset")
        example = get_object_or_404(examples, key=key)
        try:
            file = example.dataset.image_path(example).open("rb")
        except FileNotFoundError as error:
            raise Http404 from error
        response = FileResponse(file, content_type="image/jpeg")
        response["Cache-Control"] = "private, max-age=86400"
        return response

    def classes(self, dataset: Dataset) -> str:
        return " / ".join(dataset.class_names)

    @admin.display(description="suggested learning rate η₀")
    def suggested_rate(self, dataset: Dataset) -> str:
        return f"{dataset.learning_rate:.4g}"

    def teaching_images(self, dataset: Any) -> int:
        return int(dataset.in_teaching)

    def evaluation_images(self, dataset: Any) -> int:
        return int(dataset.in_evaluation)
