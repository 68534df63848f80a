"""Tells by name which tests had to be run again, whatever came of it: `make test` tries failed browser tests twice."""

import pytest


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """With `--last-failed`, everything that runs has failed the time before."""
    failed = names_of(terminalreporter, "failed", "error")
    passed = names_of(terminalreporter, "passed") - failed
    if config.getoption("lf", False) and failed | passed:
        terminalreporter.section("needed a second try", yellow=True, bold=True)
        for verdict, names in {"passed": passed, "failed again": failed}.items():
            for name in sorted(names):
                terminalreporter.line(f"Needed a second try: {name} ({verdict})")


def names_of(reporter: pytest.TerminalReporter, *outcomes: str) -> set[str]:
    return {report.nodeid for outcome in outcomes for report in reporter.getreports(outcome)}
