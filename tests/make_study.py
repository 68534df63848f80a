"""Makes short studies in the database that the environment names: settings in by line, link names out."""

import json
import sys
from typing import Any

import django


def make(fields: dict[str, Any]) -> str:
    """`owner` is a user's name, and `dataset` the settings of the data set."""
    from django.contrib.auth.models import User

    from studies.keys import new_code
    from tests.builders import make_dataset, make_study

    code = new_code().lower()
    if owner := fields.pop("owner", None):
        fields["owner"] = User.objects.get(username=owner)
    dataset = make_dataset(name=code, **fields.pop("dataset", {}))
    return make_study(**({"dataset": dataset, "slug": code} | fields)).slug


if __name__ == "__main__":
    django.setup()
    for line in sys.stdin:
        print(make(json.loads(line)), flush=True)  # noqa: T201
