"""A workplace for real workers, on each database."""

import json
import subprocess
import sys

import pytest

from tests.site import ROOT, Site


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def workplace(request) -> Site:
    """A site whose web server starts no background worker of its own."""
    return request.getfixturevalue(f"{request.param}_site")


@pytest.fixture(scope="module")
def ask(workplace):
    """Sends a process of its own on errands: what it changes belongs to the site's database and not to ours."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.errands"],
        cwd=ROOT,
        env=workplace.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as messenger:

        def send(*errand):
            messenger.stdin.write(json.dumps(errand) + "\n")
            messenger.stdin.flush()
            return json.loads(messenger.stdout.readline())

        yield send
        messenger.communicate()
