"""Import images in the admin: drop a zip, follow its progress, choose the features."""

from collections import defaultdict
from copy import copy
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
)
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from image_datasets.errors import printable
from image_datasets.imports import services
from image_datasets.models import Import
from image_datasets.remedy import NO_REMEDY, REMEDY_FIELDS, Remedy, trial_table
from studies import audit
from studies.models import AuditEntry
from studies.shortcuts import RULE


class ZipField(forms.FileField):
    """Refuses at once what cannot be a zip; the worker validates the rest."""

    def to_python(self, data: Any) -> Any:
        if data and not data.size:
            raise forms.ValidationError(
                f"{printable(data.name)}: The file is empty. Make the zip again and drop it here."
            )
        upload = super().to_python(data)
        is_zip = upload and upload.read(2) == b"PK"
        if upload:
            upload.seek(0)
        if upload and not is_zip:
            raise forms.ValidationError(
                f"{printable(data.name)}: It is not a zip. Zip the folder that holds the images and drop that here."
            )
        return upload


class ClassesField(forms.CharField):
    """Names of classes, one on each line; a name may have commas in it."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 40})

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (value or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value


class RemedyForm(forms.ModelForm):
    """A remedy for the shortcuts of an import."""

    class Meta:
        model = Import
        fields = REMEDY_FIELDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The page of an existing import has none of the fields.
        for name in self.fields.keys() & set(REMEDY_FIELDS):
            self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        """Empty fields mean that nothing is done."""
        defaults = NO_REMEDY.as_json()
        return {
            name: defaults[name] if name in defaults and value is None else value
            for name, value in self.cleaned_data.items()
        }

    @property
    def remedy(self) -> Remedy:
        return Remedy(**{name: self.cleaned_data[name] for name in REMEDY_FIELDS})


class MeasureForm(RemedyForm):
    """Measure again: other classes of those that the source has, or another remedy."""

    only_classes = forms.MultipleChoiceField(
        label="Teach only these classes",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Tick none or all to teach every class.",
    )

    class Meta:
        model = Import
        fields = ["only_classes", *REMEDY_FIELDS]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        found = sorted(self.instance.findings.get("classes", {}).items())
        choices = [(name, f"{name} ({count})") for name, count in found]
        self.fields["only_classes"].choices = choices  # type: ignore[attr-defined]
        if not self.instance.only_classes:
            self.initial["only_classes"] = [name for name, _ in found]

    @property
    def classes(self) -> list[str]:
        chosen, known = self.cleaned_data["only_classes"], self.instance.findings.get("classes", {})
        return [] if len(chosen) == len(known) else chosen


class ImportForm(RemedyForm):
    archive = ZipField(
        label="Images",
        help_text="A zip with a folder for each of 2 to 20 classes, or with a manifest (file,label or "
        "file,label,split) beside the images, or with precomputed features (.npz or CSV) beside them.",
    )
    extractor = forms.ChoiceField(
        label="Features",
        required=False,
        choices=[
            ("", "Let me choose once the accuracies are known"),
            (Import.BEST, "The most accurate ones that read no shortcut"),
        ],
    )

    only_classes = ClassesField(
        label="Teach only these classes",
        required=False,
        help_text="The names of folders or labels, one on each line, if not all of them are to be taught. "
        "You can also choose them later.",
    )

    class Meta:
        model = Import
        fields = [
            "name",
            "only_classes",
            "extractor",
            "evaluation_per_class",
            "duplicates",
            "skips_bad_images",
            *REMEDY_FIELDS,
        ]


@admin.register(Import)
class ImportAdmin(admin.ModelAdmin):
    # Imports are deleted one at a time, each with its own check.
    actions = None
    form = ImportForm
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "name",
                    "archive",
                    "only_classes",
                    "extractor",
                    "evaluation_per_class",
                    "duplicates",
                    "skips_bad_images",
                ]
            },
        ),
        (
            "Remedies for shortcuts",
            {
                "classes": ["collapse"],
                "description": "The same is done to every image, so that only the concept gives its class away. "
                "If you are not sure, leave this for later: once the shortcuts are measured, you can try remedies "
                "and compare the numbers before you choose the features.",
                "fields": [
                    ("crop_left", "crop_top", "crop_right", "crop_bottom"),
                    "crops_to_square",
                    ("border", "border_width"),
                    "equalises_brightness",
                ],
            },
        ),
    ]
    list_display = ["name", "state", "share", "file_name", "created_at", "dataset"]
    list_filter = ["state"]
    add_form_template = "admin/datasets/import_form.html"
    change_form_template = "admin/datasets/import_progress.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Import]:
        return super().get_queryset(request).visible_to(request.user)  # type: ignore[attr-defined,no-any-return]

    @admin.display(description="progress")
    def share(self, job: Import) -> str:
        return f"{100 * job.progress:.0f} %"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # An import is controlled by its buttons, not edited.
        return False

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # Renews the sign-in for SESSION_COOKIE_AGE, so that it does not expire during the upload.
        if request.method == "GET":
            request.session.modified = True
        return super().add_view(request, form_url, extra_context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.created_by = request.user
        services.start_from_upload(obj, form.cleaned_data["archive"])

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        return HttpResponseRedirect(page_of(obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_free = obj is None or not obj.is_at_work
        return is_free and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Import) -> None:
        services.discard(obj)
        audit.record(
            AuditEntry.Action.DELETE, f"Removed the import {obj.name}.", actor=request.user
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        page = import_page(job) if job else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | page)

    def get_urls(self) -> list[URLPattern]:
        state_view = self.admin_site.admin_view(self.state_view)
        order_view = self.admin_site.admin_view(require_POST(self.order_view))
        picture_view = self.admin_site.admin_view(self.picture_view)
        return [
            path("<int:pk>/state/", state_view, name="import_state"),
            path("<int:pk>/orders/<slug:order>/", order_view, name="import_order"),
            path("<int:pk>/pictures/<slug:version>/<int:row>", picture_view, name="import_picture"),
            *super().get_urls(),
        ]

    def state_view(self, request: HttpRequest, pk: int) -> JsonResponse:
        """The state of an import, polled by its page."""
        job = self._visible(request, pk)
        return JsonResponse(
            {
                "state": job.state,
                "text": "the background worker has stopped"
                if job.is_orphaned
                else job.get_state_display(),
                "step": job.step,
                "progress": job.progress,
                "log": job.log,
                "is_settled": job.is_finished or job.state == Import.State.CHOOSING,
            }
        )

    def order_view(self, request: HttpRequest, pk: int, order: str) -> HttpResponse:
        """One of the buttons: choose, measure, cancel, resume, skip."""
        job = self._visible(request, pk)
        if not self.has_add_permission(request):
            raise PermissionDenied
        try:
            match order:
                case "choose":
                    services.choose_features(job, request.POST.get("extractor", ""))
                case "measure":
                    self._measure_again(request, job)
                case "cancel":
                    services.cancel(job)
                case "resume":
                    services.resume(job)
                case "skip":
                    services.resume(job, skips_bad_images=True)
                case _:
                    messages.error(request, "There is no such action.")
        except services.WrongState as error:
            messages.error(request, str(error))
        return HttpResponseRedirect(page_of(job))

    def _measure_again(self, request: HttpRequest, job: Import) -> None:
        # With a copy, because a form writes into its instance, and the service compares old and new values.
        form = MeasureForm(request.POST, instance=copy(job))
        if form.is_valid():
            services.measure_again(job, form.remedy, form.classes)
            return
        for name, errors in form.errors.items():
            label = form.fields[name].label or name
            messages.error(
                request,
                f"{label[:1].upper()}{label[1:]}: {' '.join(str(error) for error in errors)}",
            )

    def picture_view(self, request: HttpRequest, pk: int, version: str, row: int) -> FileResponse:
        """An image of an unfinished import, as it came (“plain”) or as participants would see it (“treated”)."""
        job = self._visible(request, pk)
        remedy = job.remedy if version == "treated" else NO_REMEDY
        try:
            file = (job.pictures(remedy) / f"{row:06}.jpg").open("rb")
        except OSError as error:
            raise Http404 from error
        response = FileResponse(file, content_type="image/jpeg")
        response["Cache-Control"] = "private, no-store"
        return response

    def _visible(self, request: HttpRequest, pk: int) -> Import:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return get_object_or_404(self.get_queryset(request), pk=pk)


def import_page(job: Import) -> dict[str, Any]:
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in job.findings.get("counts", {}).items():
        # “wild, teaching pool”
        label, side = name.rsplit(", ", 1)
        counts[label][side] = count
    # While the source is kept and its classes are known.
    may_measure = job.state in Import.KEEPS_FILES and job.findings.get("classes")
    return {
        "job": job,
        "title": f"Import of {job.name}",
        "subtitle": None,
        "measure_form": MeasureForm(instance=job) if may_measure else None,
        "counts": [
            (label, row.get("teaching pool", 0), row.get("evaluation set", 0))
            for label, row in counts.items()
        ],
        "trials": trial_table(job.findings.get("trials", [])),
        "shortcut_rule": RULE,
    }


def page_of(job: Model) -> str:
    return reverse("admin:datasets_import_change", args=[job.pk])
