"""The page on which a researcher says what workers read and see of the classes of a data set."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from image_datasets.page import contact_sheet
from studies.classes import IN_USE, are_in_use, describe_classes
from studies.models import Dataset, Example, ImageClass
from teaching.references import typical_examples


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
        own = Example.objects.filter(
            dataset=self.instance.dataset_id, split=Example.Split.TEACHING, label=self.instance.index
        )  # fmt: skip
        self.fields["reference"].queryset = own  # type: ignore[attr-defined]
        self.typical = typical[self.instance.index]

    def clean_display_name(self) -> str:
        name = " ".join(str(self.cleaned_data["display_name"]).split())
        if not name.isprintable():
            raise ValidationError(
                "People will read this name, and it has invisible characters. Use plain text."
            )
        return name

    def pictures(self) -> list[dict[str, Any]]:
        """What can be chosen: the typical image first, then those of the contact sheet."""
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


class ClassFormSet(forms.BaseModelFormSet):
    def clean(self) -> None:
        super().clean()
        taken: set[str] = set()
        for form in self.forms:
            name = str(form.cleaned_data.get("display_name", "")).casefold()
            if name and name in taken:
                form.add_error(
                    "display_name",
                    "Another class has this name. Workers could not tell them apart.",
                )
            taken.add(name)


Forms = forms.modelformset_factory(
    ImageClass, form=ClassForm, formset=ClassFormSet, extra=0, edit_only=True
)


def classes_page(
    request: HttpRequest, dataset: Dataset, context: dict[str, Any], *, may_edit: bool
) -> HttpResponse:
    is_in_use = are_in_use(dataset)
    options = {"is_fixed": is_in_use or not may_edit, "typical": typical_examples(dataset)}
    classes = dataset.classes.select_related("reference", "dataset")
    data = request.POST if request.method == "POST" else None
    formset = Forms(data, queryset=classes, form_kwargs=options, prefix="class")
    if data is not None and formset.is_valid():
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
    return TemplateResponse(request, "admin/datasets/classes.html", context | page)
