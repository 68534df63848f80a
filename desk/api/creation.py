"""A study from a program: the same settings, defaults and checks as in the form."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from rest_framework import serializers

from studies.models import Dataset, Study
from studies.models.settings import GROUPS, names_in


class StudyRequest(serializers.ModelSerializer[Study]):
    """A setting that is left out has its default, and the learning rate is the one that the data set suggests."""

    dataset = serializers.CharField(
        max_length=100, help_text="the data set's name; its newest version is used"
    )

    class Meta:
        model = Study
        fields = ["slug", "title", "dataset", *(name for group in GROUPS for name in names_in(group))]  # fmt: skip


def create_study(values: dict[str, Any], owner: Any) -> Study:
    """A draft. Raises ValidationError with what is wrong in which field."""
    dataset = newest_dataset(values.pop("dataset"), owner)
    study = Study(**values, dataset=dataset, owner=owner)
    study.full_clean()
    try:
        with transaction.atomic():
            study.save()
    except IntegrityError as error:
        # Somebody else took the link name a moment ago.
        raise ValidationError({"slug": "Study with this Link name already exists."}) from error
    return study


def newest_dataset(name: str, user: Any) -> Dataset:
    visible = Dataset.objects.visible_to(user)
    dataset = visible.filter(name=name).order_by("-version").first()
    if dataset is None:
        names = ", ".join(sorted(set(visible.values_list("name", flat=True)))) or "none yet"
        raise ValidationError({"dataset": f"There is no such data set. Data sets: {names}."})
    return dataset
