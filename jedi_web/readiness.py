"""`/readyz`: whether each part of the server can do its work, or what the operator has to do."""

import shutil
import time
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from django.db.models import Max
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from jedi_web.data_folder import DataFolderNotWritable, refuse_if_not_writable
from jobs.worker import MAX_SILENCE_SECONDS, seconds_since_heartbeat
from studies.errors import UNPREPARED, is_unprepared
from studies.images import count_damaged_images
from studies.models import Dataset, Participant, Study
from teaching.pool_files import damage_of

MIN_FREE_BYTES = 500 * 1024 * 1024
# Checking the images of a data set reads thousands of files, and anybody may request this page.
IMAGES_CACHED_SECONDS = 30.0
# Several servers never agree to the second.
MAX_CLOCK_DIFFERENCE = timedelta(minutes=5)

# When the images of a data set were last found complete, by its key.
_images_checked_at: dict[str, float] = {}


def database() -> str:
    """Read, and write by an update that matches no row."""
    try:
        Study.objects.exists()
    except DatabaseError as error:
        if is_unprepared(error):
            return UNPREPARED
        return f"The database does not answer ({type(error).__name__})."
    try:
        Study.objects.filter(pk=0).update(next_ticket=0)
    except DatabaseError as error:
        return (
            f"The database cannot be written ({error}). Make room on its disk, or make it writable."
        )
    return ""


def disk() -> str:
    try:
        refuse_if_not_writable(settings.JEDI_DATA_DIR)
    except DataFolderNotWritable as error:
        return f"The data folder cannot be written ({error.reason}). Make room on its disk, or make it writable."
    free = shutil.disk_usage(settings.JEDI_DATA_DIR).free
    if free < MIN_FREE_BYTES:
        return f"{free // 1024**2} MB are free in the data folder. Make room."
    return ""


def shared_cache() -> str:
    try:
        cache.set("readiness", 1)
    except RedisError as error:
        return f"The shared cache does not answer ({type(error).__name__}). There are no rate limits meanwhile."
    return ""


def pools() -> str:
    """How many data sets of open studies are damaged; their names are not public."""
    in_use = Dataset.objects.filter(studies__state=Study.State.OPEN).only("key").distinct()
    damaged = sum(bool(damage_of(dataset)) or not has_all_images(dataset) for dataset in in_use)
    if not damaged:
        return ""
    return (
        f"{damaged} of the data sets of open studies have lost files. Restore them from a backup."
    )


def has_all_images(dataset: Dataset) -> bool:
    now = time.monotonic()
    checked_at = _images_checked_at.get(dataset.key)
    if checked_at is not None and now < checked_at + IMAGES_CACHED_SECONDS:
        return True
    if count_damaged_images(dataset):
        return False
    _images_checked_at[dataset.key] = now
    return True


def clock() -> str:
    """A session that begins while the clock is slow expires when the clock is corrected."""
    recent = Participant.objects.order_by("-pk")[:100]
    newest = recent.aggregate(newest=Max("last_seen_at"))["newest"]
    now = timezone.now()
    if newest is None or newest <= now + MAX_CLOCK_DIFFERENCE:
        return ""
    return (
        f"It is {now:%Y-%m-%d %H:%M} by the clock, but a participant was here at {newest:%Y-%m-%d %H:%M}. Set the "
        "clock before participants join: their sessions expire early if it is corrected later."
    )


def worker() -> str:
    silence = seconds_since_heartbeat()
    if silence is None:
        return "No background worker has run yet. Start one: manage.py work."
    if silence > MAX_SILENCE_SECONDS:
        return f"The background worker has been silent for {silence:.0f} seconds."
    return ""


PARTS: dict[str, Callable[[], str]] = {
    "database": database,
    "disk": disk,
    "cache": shared_cache,
    "worker": worker,
}
# These read tables.
DATABASE_PARTS: dict[str, Callable[[], str]] = {"pools": pools, "clock": clock}


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Status 200 if there is no problem, 503 otherwise."""
    problems = {name: find_problem() for name, find_problem in PARTS.items()}
    if not problems["database"]:
        problems |= {name: find_problem() for name, find_problem in DATABASE_PARTS.items()}
    parts = {name: problem or "fine" for name, problem in problems.items()}
    return JsonResponse(parts, status=503 if any(problems.values()) else 200)
