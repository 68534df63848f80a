"""The product's settings with the column of the next release, and the migration that adds it."""

from jedi_web.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.next_release"]  # noqa: F405
MIGRATION_MODULES = {"teaching": "tests.next_release.migrations", "next_release": None}
