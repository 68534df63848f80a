"""Which version of the software is running."""

import tomllib
from functools import cache

from django.conf import settings


@cache
def software_version() -> str:
    """The version in pyproject.toml, which lies beside manage.py wherever the software runs."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])
