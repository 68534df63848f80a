"""Whether this server can do its work, for whoever keeps it: each part fine, or a sentence."""

import shutil
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from jobs import heartbeat
from studies.models import Dataset, Study
from teaching.pool_files import damage_of

LEAST_FREE_BYTES = 500 * 1024 * 1024


def database() -> str:
    try:
        Study.objects.exists()
    except DatabaseError as error:
        return f"The database does not answer ({type(error).__name__})."
    return ""


def disk() -> str:
    free = shutil.disk_usage(settings.JEDI_DATA_DIR).free
    if free < LEAST_FREE_BYTES:
        return f"{free // 1024**2} MB are free in the data folder. Make room."
    return ""


def pools() -> str:
    """Only how many: which data sets there are is nobody's business here."""
    in_use = Dataset.objects.filter(studies__state=Study.State.OPEN).only("key").distinct()
    damaged = sum(bool(damage_of(dataset)) for dataset in in_use)
    return f"{damaged} of the data sets of open studies have lost files." if damaged else ""


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
    "pools": pools,
    "worker": worker,
}


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when every part is fine, 503 otherwise."""
    found = {"database": database()}
    if not found["database"]:
        found = {name: part() for name, part in PARTS.items()}
    parts = {name: problem or "fine" for name, problem in found.items()}
    return JsonResponse(parts, status=503 if any(found.values()) else 200)
