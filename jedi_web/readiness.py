"""Whether this server can do its work, for whoever keeps it: each part fine, or a sentence."""

import shutil
import time
from collections.abc import Callable

from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from jedi_web.caches import SharedCache
from jedi_web.data_folder import DataFolderNotWritable, refuse_if_not_writable
from jobs import heartbeat
from studies.images import count_damaged_images
from studies.models import Dataset, Study
from studies.outages import UNPREPARED, is_unprepared
from teaching.pool_files import damage_of

LEAST_FREE_BYTES = 500 * 1024 * 1024
TRUSTED_SECONDS = 30.0

# When the images of a data set were last found whole.
_looked_at: dict[str, float] = {}


def database() -> str:
    """Whether it answers, and could be written: the update is of no row."""
    try:
        Study.objects.exists()
    except DatabaseError as error:
        is_empty = is_unprepared(error)
        return UNPREPARED if is_empty else f"The database does not answer ({type(error).__name__})."
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
    except DataFolderNotWritable as refusal:
        return f"The data folder cannot be written ({refusal.reason}). Make room on its disk, or make it writable."
    free = shutil.disk_usage(settings.JEDI_DATA_DIR).free
    if free < LEAST_FREE_BYTES:
        return f"{free // 1024**2} MB are free in the data folder. Make room."
    return ""


def has_whole_images(dataset: Dataset) -> bool:
    """Images that were whole are looked at again after a while only: there may be thousands, and anybody may ask."""
    now = time.monotonic()
    if now < _looked_at.get(dataset.key, -TRUSTED_SECONDS) + TRUSTED_SECONDS:
        return True
    is_whole = not count_damaged_images(dataset)
    if is_whole:
        _looked_at[dataset.key] = now
    return is_whole


def cache() -> str:
    """Only a shared one can be away; that of a process is in its memory."""
    shared = caches["default"]
    if isinstance(shared, SharedCache) and not shared.answers():
        return "The shared cache does not answer. Limits of requests are not kept."
    return ""


def pools() -> str:
    """Only how many: which data sets there are is nobody's business here."""
    in_use = Dataset.objects.filter(studies__state=Study.State.OPEN).only("key").distinct()
    damaged = sum(bool(damage_of(dataset)) or not has_whole_images(dataset) for dataset in in_use)
    if not damaged:
        return ""
    return f"{damaged} of the data sets of open studies have lost files. Bring them back from a backup."


def worker() -> str:
    silence = heartbeat.silence()
    if silence is None:
        return "No background worker has run yet. Start one: manage.py work."
    if silence > heartbeat.LONGEST_SILENCE:
        return f"The background worker has been silent for {silence:.0f} seconds."
    return ""


PARTS: dict[str, Callable[[], str]] = {
    "database": database,
    "disk": disk,
    "cache": cache,
    "pools": pools,
    "worker": worker,
}


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when every part is fine, 503 otherwise."""
    found = {name: part() for name, part in PARTS.items() if name != "pools"}
    if not found["database"]:
        found["pools"] = pools()
    parts = {name: problem or "fine" for name, problem in found.items()}
    return JsonResponse(parts, status=503 if any(found.values()) else 200)
