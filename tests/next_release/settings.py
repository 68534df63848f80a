"""The product's settings with the app of the next release."""

from jedi_web.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.next_release"]  # noqa: F405
