"""The settings of the tests: the product's own, on data of their own."""

import os
import tempfile

from tests.scratch import scratch_folder

# Before the product's settings are read: nothing of a developer's environment reaches the tests.
for name in [name for name in os.environ if name.startswith("JEDI_") or name == "DATABASE_URL"]:
    del os.environ[name]
# A test that runs others on Postgres names the database here.
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")
os.environ["JEDI_DATA_DIR"] = tempfile.mkdtemp(prefix="jedi-tests-", dir=scratch_folder())
os.environ["JEDI_SECRET_KEY"] = "a key for tests only, which guards nothing at all 0123456789"

from jedi_web.settings import *  # noqa: E402, F403

STATIC_ROOT.mkdir()  # noqa: F405 - WhiteNoise warns if it is not there
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# A stage that is no part of the product, for tests that add one.
INSTALLED_APPS = [*INSTALLED_APPS, "tests.quiz"]  # noqa: F405
