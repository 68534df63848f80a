"""The verbs of a data set."""

import shutil
from functools import partial

from django.db import transaction

from studies.models import Dataset


def delete_dataset(dataset: Dataset) -> None:
    """Removes a data set and its files; refused by the database while a study needs it."""
    dataset.delete()
    # Once that stands: nothing would bring the files back if it were undone.
    transaction.on_commit(partial(shutil.rmtree, dataset.folder, ignore_errors=True))
