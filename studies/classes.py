"""What a researcher may say about the classes of a data set, and until when."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from .keys import new_key
from .models import Dataset, ImageClass, Participant, Study

# Previews and bots are nobody: names may be tried out on them.
PEOPLE = (Participant.Purpose.LIVE, Participant.Purpose.PILOT)
IN_USE = (
    "Somebody has joined a study of this data set, so what workers read about its classes stays as it is. Import the "
    "images again under the same name for a new version."
)


def are_in_use(dataset: Dataset) -> bool:
    """Whether anybody has joined a study with the data set, whichever the study has now."""
    joined = Participant.objects.filter(version__configuration__dataset__key=dataset.key)
    return joined.filter(purpose__in=PEOPLE).exists()


def describe_classes(dataset: Dataset, classes: Sequence[ImageClass]) -> None:
    """Writes what was changed of a data set's classes. Colours are the researchers' own, and can always change."""
    with transaction.atomic():
        # Nobody joins until the names are written: from then on they are what that person reads.
        list(Study.objects.select_for_update().order_by("pk").values_list("pk"))
        if not are_in_use(dataset):
            _describe(classes)
        ImageClass.objects.bulk_update(classes, ["colour"])


def _describe(classes: Sequence[ImageClass]) -> None:
    # No two classes may ever have one name, also not while two of them exchange theirs.
    for one in classes:
        ImageClass.objects.filter(pk=one.pk).update(display_name=new_key())
    for one in classes:
        one.save(update_fields=["display_name", "description", "reference"])
