"""`make audit` against a service of our own: it asks about every package and never mistakes silence for good news."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.deployment.advisories import advisory, running_advisories

# The tool is installed anew, from the registry.
pytestmark = pytest.mark.faults

ROOT = Path(__file__).resolve().parents[2]
ALL_CLEAR = "No known vulnerabilities found"
Audit = Callable[[str], subprocess.CompletedProcess[str]]


def pinned() -> dict[str, str]:
    """The packages that a server with this Python installs, with their versions."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"\w", line)]
    mine = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in mine}


def own_environment() -> dict[str, str]:
    """Without what an outer make hands down, and without a proxy for our own service."""
    handed_down = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "AUDIT_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in handed_down}
    return kept | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Runs `make audit` as it is, in an environment that is installed once."""
    venv = tmp_path_factory.mktemp("audit") / "venv"

    def run(url: str) -> subprocess.CompletedProcess[str]:
        variables = [f"VENV={venv}", f"PYTHON={sys.executable}", f"AUDIT_URL={url}"]
        return subprocess.run(
            ["make", "audit", *variables],
            cwd=ROOT,
            env=own_environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_hole_in_a_pinned_version_is_named_and_fails_the_audit(audit):
    version = pinned()["django"]
    hole = advisory("MADE-UP-1", "django", introduced=version, fixed="1000.1")
    with running_advisories(hole) as service:
        done = audit(service.url)
    assert done.returncode != 0
    assert re.search(rf"^django +{re.escape(version)} +MADE-UP-1 +1000\.1", done.stdout, re.M)
    assert done.stdout.rstrip().endswith("Found 1 known vulnerability in 1 package")


def test_holes_in_other_versions_are_none_and_every_package_is_asked_about(audit):
    packages = pinned()
    mended = advisory("MADE-UP-2", "django", fixed=packages["django"])
    to_come = advisory("MADE-UP-3", "numpy", introduced="1000", fixed="1001")
    with running_advisories(mended, to_come) as service:
        done = audit(service.url)
    assert (done.returncode, ALL_CLEAR in done.stdout) == (0, True), done
    assert sorted(service.asked) == sorted(packages.items())
    assert {"django", "gunicorn", "numpy", "psycopg-binary"} <= set(packages)


@pytest.mark.parametrize(
    ("status", "page"),
    [(404, b""), (500, b""), (200, b"<h1>Please sign in</h1>"), (200, b'{"message": "no"}')],
)
def test_a_service_that_gives_no_answer_is_no_good_news(audit, status, page):
    with running_advisories(status=status, page=page) as service:
        done = audit(service.url)
    assert_nothing_was_audited(done, service.url)


def test_a_service_that_cannot_be_reached_ends_in_a_sentence(audit):
    with running_advisories() as service:
        gone = service.url
    assert_nothing_was_audited(audit(gone), gone)


def assert_nothing_was_audited(done: subprocess.CompletedProcess[str], url: str) -> None:
    assert done.returncode != 0
    assert ALL_CLEAR not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    sentence = done.stdout.splitlines()[-1]
    assert sentence.startswith(f"Nothing was audited, because {url} gave no usable answer.")
    assert "make audit AUDIT_URL=" in sentence
