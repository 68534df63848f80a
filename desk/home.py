"""The first page of the desk: the researcher's studies with the next step of each, and the admin's lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from studies.head_counts import with_counts
from studies.models import Study

from . import pages
from .page import address

State = Study.State

NEWEST_STUDIES = 8
GROUPS = {
    "Studies": ("Study", "Participant", "AuditEntry"),
    "Images": ("Dataset", "Import"),
    "Access": ("AccessToken", "User", "Group"),
}
DESCRIPTIONS = {
    "Study": "all studies, including closed ones",
    "Participant": "everyone who joined, with their sessions",
    "AuditEntry": "who exported, decided, deleted or changed what",
    "Dataset": "image sets used in studies",
    "Import": "from your photographs to a data set",
    "AccessToken": "for your own programs",
    "User": "accounts of researchers",
    "Group": "permissions of each role",
}


def often_opened(study: Study) -> list[tuple[str, str]]:
    """(address, title) of the pages that lists of studies link to."""
    return [(page.address(study), page.title) for page in pages.PAGES if page.is_often_opened]


def newest_studies(user: Any) -> dict[str, Any]:
    """The newest studies that a researcher may see, with links to their pages."""
    visible = Study.objects.visible_to(user)
    newest = with_counts(visible.order_by("-pk"))[:NEWEST_STUDIES]
    editable = set(Study.objects.editable_by(user).values_list("pk", flat=True))
    may_change = user.has_perm("studies.change_study")
    rows = []
    for study in newest:
        step = next_step(
            study,
            joined=study.joined_count,
            finished=study.done_count,
            may_edit=may_change and study.pk in editable,
        )
        links = [link for link in often_opened(study) if link not in step.links]
        rows.append({"study": study, "next": step, "links": links})
    return {
        "rows": rows,
        "total": visible.count(),
        "may_add": user.has_perms(["studies.add_study", "datasets.add_import"]),
    }


def grouped_lists(app_list: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The admin's lists that a user may see, by group. Models without a group come last."""
    models = {model["object_name"]: model for app in app_list for model in app["models"]}
    grouped = {name for names in GROUPS.values() for name in names}
    groups = GROUPS | {"Other": tuple(name for name in models if name not in grouped)}
    return [
        {
            "title": title,
            "rows": [
                {
                    "title": models[name]["name"],
                    "url": models[name]["admin_url"],
                    "add_url": models[name]["add_url"],
                    "about": DESCRIPTIONS.get(name, ""),
                }
                for name in names
                if name in models
            ],
        }
        for title, names in groups.items()
        if any(name in models for name in names)
    ]


@dataclass(frozen=True)
class NextStep:
    """What to do next with a study."""

    sentence: str
    links: tuple[tuple[str, str], ...]
    """(address, title) of the pages where it is done, the most important first."""


PREVIEW, REHEARSAL = ("preview", "Preview"), ("rehearsal", "Rehearsal")
CHECKS, SHARE, MONITOR = ("checks", "Check list"), ("share", "Links"), ("monitor", "Monitor")
QUALITY, PAYMENT = ("quality", "Quality"), ("payment", "Payment")
RESULTS, DOWNLOADS = ("results", "Results"), ("downloads", "Downloads")


def next_step(study: Study, *, joined: int, finished: int, may_edit: bool) -> NextStep:
    """The next step, by the study's state and the number of live participants."""
    linked: tuple[tuple[str, str], ...]
    target = study.target_per_arm
    wanted = target * len(study.arm_names) if target else study.max_participants
    if not may_edit:
        sentence, linked = "Shared with you for reading.", (RESULTS, MONITOR)
    elif study.state == State.DRAFT:
        sentence = "Try it yourself and rehearse it with bots. Then go through the check list and open the study."
        linked = PREVIEW, REHEARSAL, CHECKS
    elif study.state == State.PILOT:
        sentence = "Send the link to a few people; their sessions will not count. When they look right, open the study."
        linked = SHARE, MONITOR, CHECKS
    elif study.state == State.PAUSED:
        sentence = "Nobody new can join. Open it again, or close it on the monitor."
        linked = CHECKS, MONITOR
    elif study.state == State.CLOSED and not finished:
        sentence, linked = "It ended without results. It can be opened again.", (CHECKS,)
    elif study.state == State.CLOSED:
        sentence = "Review the flagged sessions, pay the bonuses, then read the results and download the data."
        linked = QUALITY, PAYMENT, RESULTS, DOWNLOADS
    elif not joined:
        sentence, linked = "Share the link.", (SHARE, MONITOR)
    elif wanted and finished >= wanted:
        sentence, linked = "The target number has finished: close the study.", (MONITOR,)
    else:
        sentence, linked = "Follow its progress.", (MONITOR, QUALITY)
    return NextStep(sentence, tuple((address(study, name), title) for name, title in linked))
