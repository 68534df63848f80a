"""Studies at a glance: how many people each has, and which are the newest."""

from typing import Any

from django.db.models import Count, Q, QuerySet

from studies.models import Participant, Study

# On the first page of the desk.
NEWEST = 8


def with_counts(studies: QuerySet[Any]) -> QuerySet[Any]:
    """Each with the number of people who count: `joined_count`, and `done_count` of them to the end."""
    live = Q(participants__purpose=Participant.Purpose.LIVE)
    done = live & Q(participants__stage=Participant.Stage.DONE)
    counted: QuerySet[Any] = studies.annotate(
        joined_count=Count("participants", filter=live),
        done_count=Count("participants", filter=done),
    )
    return counted


def newest_studies(user: Any) -> tuple[list[Any], int]:
    """A few studies that a user may see, the newest first, and how many there are."""
    visible = Study.objects.visible_to(user)
    return list(with_counts(visible.order_by("-pk"))[:NEWEST]), visible.count()
