"""The check list of a study: what to review before it opens, and the button that opens it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from studies.models import Study
from studies.services import STATE_MEANINGS, STATE_MOVES

from .check_rules import RULES, Finding, Grade, Rule, StudyData
from .page import Page, study_page


@dataclass(frozen=True)
class Check:
    """One rule and what it found."""

    rule: Rule
    finding: Finding

    @property
    def grade(self) -> Grade:
        return self.finding.grade


def check_list(study: Study) -> list[Check]:
    data = StudyData(study)
    return [Check(rule, rule.check(data)) for rule in RULES]


def alarms(study: Study) -> list[Check]:
    """The checks that the monitor shows as well."""
    return [check for check in check_list(study) if check.finding.is_alarm]


def check_summary(checks: list[Check]) -> str:
    """The result of the check list in one sentence."""
    if any(check.grade == Grade.OBSTACLE for check in checks):
        return "The study cannot run yet."
    passed = sum(check.grade == Grade.FINE for check in checks)
    if passed == len(checks):
        return f"All {passed} checks passed."
    doubts = len(checks) - passed
    return f"{passed} of {len(checks)} checks passed; {doubts} {'needs' if doubts == 1 else 'need'} attention."


def checks(request: HttpRequest, study: Study) -> HttpResponse:
    found = check_list(study)
    context = {
        "checks": found,
        "summary": check_summary(found),
        "can_run": all(check.grade != Grade.OBSTACLE for check in found),
        "moves": [move for move in STATE_MOVES[study.state] if move.state in Study.TAKES_PART],
        "meaning": STATE_MEANINGS[study.state],
    }
    return study_page(request, study, "admin/desk/checks.html", "Check list", context)


PAGES = (Page("checks", "checks/", checks, title="Check list"),)
