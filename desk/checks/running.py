"""Checks of whether the study can run, can be reached, and is one study."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from studies.summary import counted
from studies.version_groups import versions_in_words
from teaching.estimates import estimate_question, estimate_sentence

from .facts import StudyFacts
from .finding import Finding, fine, note, obstacle, question

LOCAL_NAMES = ("localhost", "localhost.localdomain")


def settings(facts: StudyFacts) -> Finding:
    if facts.problems:
        return obstacle(" ".join(facts.problems), facts.setting("title", "Set-up"))
    return fine("The settings fit together, and the data set has enough images for them.")


def estimate(facts: StudyFacts) -> Finding:
    doubt = estimate_question(facts.study)
    if doubt:
        return question(doubt, facts.setting("jedi_estimator", "JEDI’s estimate"))
    return fine(estimate_sentence(facts.study) or "It is the paper’s.")


def address(facts: StudyFacts) -> Finding:
    parts = urlsplit(facts.study.public_url)
    reach = reach_of(parts.hostname or "")
    links = facts.page("share", "Links")
    if reach:
        return question(
            f"The workers’ link begins with {parts.scheme}://{parts.netloc}/, which works only {reach}. Tell the "
            "server its public address: JEDI_PUBLIC_URL.",
            links,
        )
    if parts.scheme != "https":
        return question(
            "The workers’ link begins with http://: browsers call it insecure, answers travel unprotected, and "
            "Mechanical Turk refuses it. Put the server behind HTTPS.",
            links,
        )
    return fine(f"The workers’ link is {facts.study.public_url}")


def reach_of(host: str) -> str:
    """From where a host can be reached, if not from everywhere."""
    if host in LOCAL_NAMES:
        return "on this computer"
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return "" if "." in host else "in your own network"
    if number.is_loopback or number.is_unspecified:
        return "on this computer"
    return "" if number.is_global else "in your own network"


def versions(facts: StudyFacts) -> Finding:
    page = facts.page("versions", "Versions")
    elsewhere, choice = facts.under_way_elsewhere, facts.versions
    going = f" {under_way_words(elsewhere)}" if elsewhere else ""
    if len(choice.groups) > 1:
        return question(
            f"People have joined with {versions_in_words(choice.everywhere)}, which differ in: "
            f"{', '.join(choice.differing)}. Results keep them apart.{going}",
            page,
        )
    if elsewhere:
        return note(under_way_words(elsewhere), page)
    return fine("Everybody who takes part has the same settings.")


def under_way_words(elsewhere: dict[int, int]) -> str:
    people = sum(elsewhere.values())
    verb = "is" if people == 1 else "are"
    return (
        f"{counted(people, 'session')} of {versions_in_words(list(elsewhere))} {verb} still under way and "
        f"keep{'s' if people == 1 else ''} the earlier settings."
    )
