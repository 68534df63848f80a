"""Editing the names and descriptions of classes, until somebody has joined a study with them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from .keys import new_key
from .models import Dataset, ImageClass, Participant, Study

# Names may still change after previews and rehearsals.
PEOPLE = (Participant.Purpose.LIVE, Participant.Purpose.PILOT)
IN_USE = (
    "Somebody has joined a study of this data set, so what workers read about its classes stays as it is. Import the "
    "images again under the same name for a new version."
)


def are_in_use(dataset: Dataset) -> bool:
    """Whether anybody has joined a study while it used the data set."""
    joined = Participant.objects.filter(version__configuration__dataset__key=dataset.key)
    return joined.filter(purpose__in=PEOPLE).exists()


def describe_classes(dataset: Dataset, classes: Sequence[ImageClass]) -> None:
    """Store changed classes. Participants do not see colours, so these can always change."""
    with transaction.atomic():
        # Lock all studies: nobody joins until the names are stored.
        list(Study.objects.select_for_update().order_by("pk").values_list("pk"))
        if not are_in_use(dataset):
            _describe(classes)
        ImageClass.objects.bulk_update(classes, ["colour"])


def _describe(classes: Sequence[ImageClass]) -> None:
    # Names are unique, also while two classes swap theirs.
    for one in classes:
        ImageClass.objects.filter(pk=one.pk).update(display_name=new_key())
    for one in classes:
        one.save(update_fields=["display_name", "description", "reference"])
