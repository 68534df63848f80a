"""Makes short studies in the database that the environment names: settings in by line, link names out."""

import json
import sys
from typing import Any

import django


def make(fields: dict[str, Any]) -> str:
    """`owner` is a user's name, and `dataset` the settings of the data set, or the name of one that exists."""
    from django.contrib.auth.models import User

    from studies.keys import new_code
    from studies.models import Dataset
    from tests.builders import make_dataset, make_study

    code = new_code().lower()
    if owner := fields.pop("owner", None):
        fields["owner"] = User.objects.get(username=owner)
    wanted = fields.pop("dataset", {})
    is_name = isinstance(wanted, str)
    dataset = Dataset.objects.get(name=wanted) if is_name else make_dataset(name=code, **wanted)
    return make_study(**({"dataset": dataset, "slug": code} | fields)).slug


if __name__ == "__main__":
    django.setup()
    for line in sys.stdin:
        print(make(json.loads(line)), flush=True)  # noqa: T201
