"""Room for workers: which arms are given out, and how many places there are."""

from typing import Any

from django.db import transaction
from django.db.models import F

from . import audit
from .errors import StateNotAllowed
from .models import AuditEntry, Study

MOST_PLACES_AT_ONCE = 10_000


def close_arm(study: Study, arm: str, actor: Any) -> None:
    """Assigns an arm to nobody new; those who have it continue. One arm always stays open."""
    with transaction.atomic():
        locked = _locked(study, arm)
        if arm in locked.closed_arms:
            return
        if locked.open_arms == [arm]:
            raise StateNotAllowed(
                "This is the last open teacher, and workers need one. Pause or close the study instead."
            )
        _write(locked, [*locked.closed_arms, arm])
        _record(study, f"The teacher {arm} was closed.", actor)


def reopen_arm(study: Study, arm: str, actor: Any) -> None:
    with transaction.atomic():
        locked = _locked(study, arm)
        if arm not in locked.closed_arms:
            return
        _write(locked, [name for name in locked.closed_arms if name != arm])
        _record(study, f"The teacher {arm} was opened again.", actor)


def add_places(study: Study, more: int, actor: Any) -> int:
    """More places than before; returns how many there are now."""
    if not 1 <= more <= MOST_PLACES_AT_ONCE:
        raise StateNotAllowed(f"Add between 1 and {MOST_PLACES_AT_ONCE:,} places at once.")
    with transaction.atomic():
        limited = Study.objects.filter(pk=study.pk, max_participants__isnull=False)
        if not limited.update(max_participants=F("max_participants") + more):
            raise StateNotAllowed("The number of places in this study is not limited.")
        places = int(limited.values_list("max_participants", flat=True).get() or 0)
        _record(study, f"{more} places were added; there are {places} now.", actor)
    return places


def _locked(study: Study, arm: str) -> Study:
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if arm not in locked.arm_names:
        raise StateNotAllowed("This study has no such teacher.")
    return locked


def _write(study: Study, closed: list[str]) -> None:
    """Arms that the settings no longer have are forgotten, so that coming back they are open."""
    kept = [name for name in closed if name in study.arm_names]
    Study.objects.filter(pk=study.pk).update(closed_arms=kept)


def _record(study: Study, detail: str, actor: Any) -> None:
    audit.record(AuditEntry.Action.STATE, detail, study=study, actor=actor)
