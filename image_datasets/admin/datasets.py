"""Data sets in the admin: the page of a data set, and the page on which its classes are described."""

import shutil
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
)
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from image_datasets.remedy import Remedy, trial_table
from studies import audit
from studies.classes import IN_USE, are_in_use, describe_classes
from studies.models import AuditEntry, Dataset, Example, ImageClass
from studies.read_only import ReadOnly
from studies.shortcuts import RULE, shortcut_warnings, shortcuts_of
from teaching.ceiling import ceiling_of, ceiling_sentence
from teaching.references import typical_examples

# Images on a contact sheet, for each class.
SHEET = 24
MAP_WIDTH, MAP_HEIGHT, MAP_MARGIN = 640, 420, 12
# The marks of the map: a circle, a square, a triangle and a diamond, in turn.
SHAPES = 4


@admin.register(Dataset)
class DatasetAdmin(ReadOnly, admin.ModelAdmin):
    # Data sets are deleted one at a time, each with its own check.
    actions = None
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
        counts = {
            f"in_{split}": Count("examples", filter=Q(examples__split=split))
            for split in Example.Split.values
        }
        rows: QuerySet[Any] = super().get_queryset(request)
        visible = rows.visible_to(request.user)  # type: ignore[attr-defined]
        return visible.annotate(**counts).prefetch_related("classes")  # type: ignore[no-any-return]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # A data set that a study uses is part of the study's record.
        has_right = admin.ModelAdmin.has_delete_permission(self, request, obj)
        if obj is None or not has_right:
            return has_right
        return self.is_own(request, obj) and not obj.studies.exists()

    def is_own(self, request: HttpRequest, dataset: Dataset) -> bool:
        return bool(request.user.is_superuser or dataset.owner_id == request.user.pk)

    def delete_model(self, request: HttpRequest, obj: Dataset) -> None:
        name, folder = str(obj), obj.folder
        # The database refuses it while a study needs the data set.
        obj.delete()
        # After the commit: a rollback could not bring the files back.
        transaction.on_commit(partial(shutil.rmtree, folder, ignore_errors=True))
        audit.record(AuditEntry.Action.DELETE, f"Deleted the data set {name}.", actor=request.user)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        dataset = self.get_object(request, object_id)
        page = dataset_page(dataset, request.user) if dataset else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | page)

    def get_urls(self) -> list[URLPattern]:
        image = self.admin_site.admin_view(self.image_view)
        classes = self.admin_site.admin_view(self.classes_view)
        return [
            path("images/<str:key>", image, name="example_image"),
            path("<int:pk>/classes/", classes, name="dataset_classes"),
            *super().get_urls(),
        ]

    def image_view(self, request: HttpRequest, key: str) -> FileResponse:
        """An image of a data set that the user may see."""
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

    def classes_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What participants read and see of the classes; whoever may delete the data set may change it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user), pk=pk)
        may_edit = self.is_own(request, dataset)
        if request.method == "POST" and not may_edit:
            raise PermissionDenied
        is_in_use = are_in_use(dataset)
        formset = ClassForms(
            request.POST if request.method == "POST" else None,
            queryset=dataset.classes.select_related("reference", "dataset"),
            form_kwargs={
                "is_fixed": is_in_use or not may_edit,
                "typical": typical_examples(dataset),
            },
            prefix="class",
        )
        if request.method == "POST" and formset.is_valid():
            describe_classes(dataset, [form.instance for form in formset.forms])
            messages.success(request, "The classes were saved.")
            return HttpResponseRedirect(reverse("admin:studies_dataset_change", args=[dataset.pk]))
        page = {
            "title": f"Classes of {dataset}",
            "dataset": dataset,
            "formset": formset,
            "may_edit": may_edit,
            "in_use": IN_USE if is_in_use else "",
        }
        context = self.admin_site.each_context(request) | page
        return TemplateResponse(request, "admin/datasets/classes.html", context)

    def classes(self, dataset: Dataset) -> str:
        return " / ".join(dataset.class_names)

    @admin.display(description="suggested learning rate η₀")
    def suggested_rate(self, dataset: Dataset) -> str:
        return f"{dataset.learning_rate:.4g}"

    def teaching_images(self, dataset: Any) -> int:
        return int(dataset.in_teaching)

    def evaluation_images(self, dataset: Any) -> int:
        return int(dataset.in_evaluation)


# The page of a data set


def dataset_page(dataset: Dataset, user: Any) -> dict[str, Any]:
    """What the page shows. Of the studies that use the data set, only those that the user may see are named."""
    keys = dict(
        dataset.examples.filter(split=Example.Split.TEACHING).values_list("pool_index", "key")
    )
    insight = dataset.insight
    # How each class is drawn on the map, class 0 first.
    marks = [
        {"name": one.display_name, "colour": one.colour, "shape": one.index % SHAPES}
        for one in dataset.classes.all()
    ]
    confusion = insight.get("accuracy", {}).get("confusion", [])
    # Shortcuts are judged now; older data sets store older verdicts about them.
    warnings = [
        f"{row['message']} {row['remedy']}"
        for row in insight.get("warnings", [])
        if row["code"] != "shortcut"
    ]
    return {
        "insight": insight,
        "warnings": warnings + shortcut_warnings(dataset),
        "shortcuts": shortcuts_of(dataset),
        "shortcut_rule": RULE,
        "remedy": str(Remedy(**insight["remedy"])) if "remedy" in insight else "",
        "trials": trial_table(insight.get("trials", [])),
        "ceiling": ceiling_of(dataset),
        "ceiling_sentence": ceiling_sentence(dataset),
        "studies": dataset.studies.visible_to(user),
        "is_used": dataset.studies.exists(),
        "sheets": [
            {"name": dataset.class_names[label], "keys": contact_sheet(dataset, label)}
            for label in range(len(dataset.class_names))
        ],
        "hardest": with_images(insight.get("hardest", []), keys, dataset),
        "ambiguous": with_images(insight.get("ambiguous", []), keys, dataset),
        "marks": marks,
        "points": map_points(insight.get("map"), keys, marks),
        "map_size": {"width": MAP_WIDTH, "height": MAP_HEIGHT},
        "confusion": [
            {"name": name, "counts": counts}
            for name, counts in zip(dataset.class_names, confusion, strict=False)
        ],
    }


def contact_sheet(dataset: Dataset, label: int) -> list[str]:
    rows = dataset.examples.filter(split=Example.Split.TEACHING, label=label)
    return list(rows.order_by("pool_index").values_list("key", flat=True)[:SHEET])


def with_images(
    rows: list[dict[str, Any]], keys: dict[int | None, str], dataset: Dataset
) -> list[dict[str, Any]]:
    """Examples with the most probable class according to the target concept, and its probability."""
    examples = []
    for row in rows:
        if row["pool_index"] not in keys:
            continue
        said, probability = row.get("said"), row["probability"]
        if said is None:
            # Older data sets store the probability of class 1.
            said, probability = int(probability >= 0.5), max(probability, 1 - probability)
        examples.append(
            {
                "key": keys[row["pool_index"]],
                "label": dataset.class_names[row["label"]],
                "said": dataset.class_names[said],
                "percent": round(100 * probability),
            }
        )
    return examples


def map_points(
    layout: dict[str, Any] | None, keys: dict[int | None, str], marks: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The examples as points of the page's map, y upwards."""
    if not layout:
        return []
    rows = zip(layout["pool_index"], layout["label"], layout["x"], layout["y"], strict=True)
    return [
        {
            "x": round(MAP_MARGIN + x * (MAP_WIDTH - 2 * MAP_MARGIN), 1),
            "y": round(MAP_MARGIN + (1 - y) * (MAP_HEIGHT - 2 * MAP_MARGIN), 1),
            "key": keys.get(index, ""),
            **marks[label],
        }
        for index, label, x, y in rows
    ]


# The page of the classes


class ClassForm(forms.ModelForm):
    class Meta:
        model = ImageClass
        fields = ["display_name", "description", "colour", "reference"]
        widgets = {"colour": forms.TextInput(attrs={"type": "color"})}
        labels = {"display_name": "Name", "description": "Description", "colour": "Colour"}

    def __init__(self, *args: Any, is_fixed: bool, typical: list[Example], **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("display_name", "description", "reference"):
            self.fields[name].disabled = is_fixed
        self.fields["reference"].queryset = Example.objects.filter(  # type: ignore[attr-defined]
            dataset=self.instance.dataset_id,
            split=Example.Split.TEACHING,
            label=self.instance.index,
        )
        self.typical = typical[self.instance.index]

    def clean_display_name(self) -> str:
        name = " ".join(str(self.cleaned_data["display_name"]).split())
        if not name.isprintable():
            raise ValidationError(
                "People will read this name, and it has invisible characters. Use plain text.",
                code="invisible",
            )
        return name

    def pictures(self) -> list[dict[str, Any]]:
        """The images to choose from: the most typical one, the chosen one, and those of the contact sheet."""
        chosen = self.instance.reference
        keys = [self.typical.key, *contact_sheet(self.instance.dataset, self.instance.index)]
        if chosen:
            keys.insert(1, chosen.key)
        rows = {row.key: row for row in Example.objects.filter(key__in=keys)}
        current = chosen.key if chosen else self.typical.key
        return [
            {
                "key": key,
                "pk": rows[key].pk,
                "is_chosen": key == current,
                "is_typical": key == self.typical.key,
            }
            for key in dict.fromkeys(keys)
        ]


class BaseClassForms(forms.BaseModelFormSet):
    def clean(self) -> None:
        super().clean()
        names: set[str] = set()
        for form in self.forms:
            name = str(form.cleaned_data.get("display_name", "")).casefold()
            if name and name in names:
                form.add_error(
                    "display_name",
                    ValidationError(
                        "Another class has this name. Participants could not tell them apart.",
                        code="duplicate",
                    ),
                )
            names.add(name)


ClassForms = forms.modelformset_factory(
    ImageClass, form=ClassForm, formset=BaseClassForms, extra=0, edit_only=True
)
