"""A workplace for real workers, on each database."""

import json

import pytest

from tests.site import Site


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.faults)], scope="module"
)
def workplace(request) -> Site:
    """A site whose web server starts no background worker of its own.

    Most tests need Postgres only in `make faults`: what differs there is how jobs are locked.
    """
    return request.getfixturevalue(f"{request.param}_site")


@pytest.fixture(scope="module")
def ask(workplace):
    """Sends a process of its own on errands: what it changes belongs to the site's database and not to ours."""
    with workplace.conversation("-m", "tests.jobs.errands") as messenger:

        def send(*errand):
            messenger.stdin.write(json.dumps(errand) + "\n")
            messenger.stdin.flush()
            return json.loads(messenger.stdout.readline())

        yield send
        messenger.communicate()
