"""What to do next with a study, by the state that it is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from desk.base.pages import address
from studies.models import Study

State = Study.State


@dataclass(frozen=True)
class Progress:
    """How far a study is: live people who joined and finished."""

    study: Study
    joined: int
    finished: int

    @property
    def wanted(self) -> int | None:
        target = self.study.target_per_arm
        return target * len(self.study.arm_names) if target else self.study.max_participants


@dataclass(frozen=True)
class NextStep:
    sentence: str
    links: tuple[tuple[str, str], ...]
    """(address, title) of the pages where it is done, the first of them first."""


# A sentence, and the pages that it is about by name and title.
Step = tuple[str, tuple[tuple[str, str], ...]]


def of_draft(progress: Progress) -> Step:
    return (
        "Try it yourself and let bots rehearse it. The check list then says what may spoil it, and opens it.",
        (("preview", "Preview"), ("rehearsal", "Rehearsal"), ("checks", "Check list")),
    )


def of_pilot(progress: Progress) -> Step:
    return (
        "Send the link to a few people, who will not count. When their sessions look right, open the study.",
        (("share", "Links"), ("monitor", "Monitor"), ("checks", "Check list")),
    )


def of_open(progress: Progress) -> Step:
    if not progress.joined:
        return "Hand out the link.", (("share", "Links"), ("monitor", "Monitor"))
    if progress.wanted and progress.finished >= progress.wanted:
        return "As many as you wanted have finished: close the study.", (("monitor", "Monitor"),)
    return "Watch how it goes.", (("monitor", "Monitor"), ("quality", "Quality"))


def of_paused(progress: Progress) -> Step:
    return (
        "Nobody new can begin. Open it again, or close it on the monitor.",
        (("checks", "Check list"), ("monitor", "Monitor")),
    )


def of_closed(progress: Progress) -> Step:
    if not progress.finished:
        return "It ended without results. It can be opened again.", (("checks", "Check list"),)
    return (
        "Decide about what was flagged, pay, then read the results and keep the files.",
        (
            ("quality", "Quality"),
            ("payment", "Payment"),
            ("results", "Results"),
            ("downloads", "Downloads"),
        ),
    )


STEPS: dict[str, Callable[[Progress], Step]] = {
    State.DRAFT: of_draft,
    State.PILOT: of_pilot,
    State.OPEN: of_open,
    State.PAUSED: of_paused,
    State.CLOSED: of_closed,
}
# Who may not change a study has nothing to do, and something to look at.
TO_READ: Step = ("Shared with you for reading.", (("results", "Results"), ("monitor", "Monitor")))


def next_step(progress: Progress, *, may_edit: bool) -> NextStep:
    sentence, pages = STEPS[progress.study.state](progress) if may_edit else TO_READ
    return NextStep(
        sentence, tuple((address(progress.study, name), title) for name, title in pages)
    )
