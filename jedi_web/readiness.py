"""Whether this server can do its work, for whoever keeps it: each part fine, or a sentence."""

import shutil
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from jobs import heartbeat
from studies.models import Study
from teaching.ceiling import damage_of

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
    """Only how many: which studies there are is nobody's business here."""
    open_studies = Study.objects.filter(state=Study.State.OPEN).select_related("dataset")
    damaged = sum(bool(damage_of(study.dataset)) for study in open_studies)
    return (
        f"{damaged} of the open studies cannot use the files of their data set." if damaged else ""
    )


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
