"""A test that failed at first and was run again is named at the end, and decides how the run ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site import ROOT

STUMBLES = """
from pathlib import Path

def test_that_stumbles():
    stumbled = Path(__file__).with_name("stumbled")
    if not stumbled.exists():
        stumbled.touch()
        raise AssertionError("only once")
"""
FAILS = """
def test_that_fails():
    assert False
"""
BREAKS = """
import pytest

@pytest.fixture
def ground():
    raise RuntimeError("no ground")

def test_that_breaks(ground):
    pass
"""
PASSES = """
def test_that_passes():
    pass
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Without the plug-ins of our own tests, which take seconds to load."""
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", f"--rootdir={folder}"]
    return subprocess.run(
        [*command, "-p", "xdist", "-p", "tests.second_try", *options, folder],
        cwd=ROOT,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )


def run_twice(folder: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """As `make test` does it."""
    for number, test in enumerate(tests):
        (folder / f"test_{number}.py").write_text(test)
    first = run(folder, "-n", "1")
    assert first.returncode == 1
    assert "second try" not in first.stdout
    return run(folder, "--last-failed", "--last-failed-no-failures", "none")


def test_a_test_that_passes_at_the_second_try_is_named_and_the_run_passes(tmp_path: Path) -> None:
    second = run_twice(tmp_path, PASSES, STUMBLES)
    assert second.returncode == 0
    assert "Needed a second try: test_1.py::test_that_stumbles (passed)" in second.stdout
    assert second.stdout.count("Needed a second try") == 1


@pytest.mark.parametrize(
    ("test", "name"), [(FAILS, "test_that_fails"), (BREAKS, "test_that_breaks")]
)
def test_a_test_that_fails_again_is_named_and_the_run_fails(
    test: str, name: str, tmp_path: Path
) -> None:
    second = run_twice(tmp_path, STUMBLES, test)
    assert second.returncode == 1
    assert "Needed a second try: test_0.py::test_that_stumbles (passed)" in second.stdout
    assert f"Needed a second try: test_1.py::{name} (failed again)" in second.stdout
