"""The verbs of a data set."""

import shutil

from studies.models import Dataset


def delete_dataset(dataset: Dataset) -> None:
    """Removes a data set and its files; refused by the database while a study needs it."""
    dataset.delete()
    shutil.rmtree(dataset.folder, ignore_errors=True)
