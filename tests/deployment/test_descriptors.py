"""A web process takes no more connections than it has file descriptors for."""

import subprocess
import sys

import pytest

from jedi_web.descriptors import MOST_CONNECTIONS, OTHER_FILES
from tests.site import ROOT

ALLOWED = """
import resource
from jedi_web.descriptors import allowed_connections
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(allowed_connections(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "descriptors"),
    [
        (256, 1024, 1024 - OTHER_FILES, 1024),
        (256, 5000, MOST_CONNECTIONS, MOST_CONNECTIONS + OTHER_FILES),
        (5000, 6000, MOST_CONNECTIONS, 5000),
        (100, 100, 1, 100),
    ],
)
def test_connections_leave_room_for_other_files(soft, hard, connections, descriptors):
    # In a process of its own, which cannot raise its limit again.
    command = [sys.executable, "-c", ALLOWED.format(soft=soft, hard=hard)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [int(one) for one in done.stdout.split()] == [connections, descriptors, hard]
