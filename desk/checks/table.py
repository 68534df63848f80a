"""The one table of checks, in the order of the list. A new check is a function and a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studies.models import Study

from . import data_set, running, sample, workers
from .facts import StudyFacts
from .finding import Finding, Grade


@dataclass(frozen=True)
class Check:
    key: str
    title: str
    judge: Callable[[StudyFacts], Finding]


CHECKS = (
    Check("settings", "Settings", running.settings),
    Check("files", "Files", data_set.files),
    Check("shortcuts", "Shortcuts", data_set.shortcuts),
    Check("rate", "Learning rate", data_set.learning_rate),
    Check("estimate", "JEDI’s estimate", running.estimate),
    Check("ceiling", "Ceiling", data_set.ceiling),
    Check("target", "Number of workers", sample.target),
    Check("consent", "Consent text", workers.consent),
    Check("minutes", "Minutes", workers.minutes),
    Check("pay", "Pay per hour", workers.pay),
    Check("address", "Public address", running.address),
    Check("scores", "Secrecy of the test", workers.scores),
    Check("completion", "After the last page", workers.completion),
    Check("versions", "Versions", running.versions),
)


@dataclass(frozen=True)
class Line:
    """One check and what it found."""

    check: Check
    finding: Finding

    @property
    def grade(self) -> Grade:
        return self.finding.grade


def check_list(study: Study) -> list[Line]:
    facts = StudyFacts(study)
    return [Line(check, check.judge(facts)) for check in CHECKS]


def alarms(study: Study) -> list[Line]:
    """What the monitor raises."""
    return [line for line in check_list(study) if line.finding.is_alarm]
