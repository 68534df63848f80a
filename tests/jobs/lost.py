"""What the tests of lost jobs share: made jobs of each kind, and a worker that has been silent."""

from datetime import timedelta

from django.utils import timezone

from image_datasets.models import Import
from jobs.models import LEASE
from rehearsal.models import Rehearsal
from tests.builders import make_study


def make_import(**fields):
    return Import.objects.create(
        **{"name": "Shapes", "source": "/nowhere", "heartbeat_at": timezone.now()} | fields
    )


def make_rehearsal(**fields):
    return Rehearsal.objects.create(**{"study": make_study(), "workers": 3} | fields)


MAKERS = {"import": make_import, "rehearsal": make_rehearsal}


def fall_silent(job):
    """As if the worker had not reported for longer than a lease."""
    before = timezone.now() - LEASE - timedelta(seconds=1)
    type(job).objects.filter(pk=job.pk).update(heartbeat_at=before)
