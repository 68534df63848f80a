"""The verbs of an import. The admin and the command line do the same through these."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from .models import SILENCE, Import
from .tasks import work_on_import

if TYPE_CHECKING:
    from studies.models import Dataset

logger = logging.getLogger(__name__)


class WrongState(Exception):
    """An order that does not fit the state of the import."""


def start_from_upload(job: Import, upload: UploadedFile[Any]) -> Import:
    """Keeps the uploaded file and hands the import to a worker."""
    job.folder.mkdir(parents=True)
    path = job.folder / "source.zip"
    with path.open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    job.source = str(path)
    job.file_name = Path(upload.name or "upload.zip").name[:200]
    job.save()
    enqueue(job)
    return job


def enqueue(job: Import) -> None:
    transaction.on_commit(lambda: work_on_import.enqueue(job.pk))


def choose_features(job: Import, extractor: str) -> None:
    """The researcher's choice: the import goes on with these features."""
    known = {row["name"] for row in job.findings.get("candidates", []) if row.get("accuracy")}
    if job.state != Import.State.CHOOSING or extractor not in known:
        raise WrongState("Choose one of the kinds of features that the import has measured.")
    job.report(extractor=extractor, state=Import.State.WAITING)
    enqueue(job)


def cancel(job: Import) -> None:
    """Stops an import; what was worked out is kept for a resume."""
    if job.is_finished:
        raise WrongState("This import has ended already.")
    is_at_work = job.state == Import.State.RUNNING and not job.is_orphaned
    job.report(cancel_requested=True, **({} if is_at_work else {"state": Import.State.CANCELLED}))


def resume(job: Import, *, skips_bad_images: bool | None = None) -> None:
    """Takes an import up again where it stopped."""
    if not (job.state in (Import.State.FAILED, Import.State.CANCELLED) or job.is_orphaned):
        raise WrongState("This import does not need to be resumed.")
    if skips_bad_images is not None:
        job.report(skips_bad_images=skips_bad_images)
    job.report(state=Import.State.WAITING, cancel_requested=False, problem="")
    enqueue(job)


def resume_orphans() -> int:
    """Hands the imports of killed workers to the next one; returns how many."""
    orphans = list(Import.objects.orphaned())
    for job in orphans:
        job.note("The worker was stopped; another one goes on.")
        resume(job)
    return len(orphans)


def discard(job: Import) -> None:
    """Removes an import and its files; the data set that it made stays."""
    if job.state == Import.State.RUNNING and not job.is_orphaned:
        raise WrongState("Cancel the import first.")
    shutil.rmtree(job.folder, ignore_errors=True)
    job.delete()


def run(job: Import, echo: Callable[[str], None] = lambda line: None) -> None:
    """Works on an import until it is done, needs a choice, or meets a problem. All or nothing."""
    if not _claim(job):
        return
    # The libraries of features are loaded here, in the worker, and never in a web process.
    from teaching.engine import EngineError

    from . import examination, finishing
    from .errors import ImportProblem
    from .extractors import Cancelled, ExtractorError
    from .watch import Watch

    watch = Watch(job, echo)
    try:
        examined = examination.examine(job, watch)
        job.report(findings=job.findings | examination.findings_of(examined))
        if not job.extractor:
            watch.note("Choose the features to go on.")
            job.report(state=Import.State.CHOOSING, step="")
            return
        dataset = finishing.finish(job, examined, watch)
        _succeed(job, dataset)
    except Cancelled:
        job.note("Cancelled.")
        job.report(state=Import.State.CANCELLED, step="")
    except (ImportProblem, ExtractorError, EngineError, ValidationError) as problem:
        fail(job, str(problem))
    except Exception:
        logger.exception("import %s failed", job.pk)
        fail(
            job,
            "Something unexpected went wrong; the server's log has the details. Try again, or report it.",
        )


def _claim(job: Import) -> bool:
    """Makes the import this worker's, unless another one has it."""
    silent = Q(state=Import.State.RUNNING, heartbeat_at__lt=timezone.now() - SILENCE)
    free = Import.objects.filter(Q(state=Import.State.WAITING) | silent, pk=job.pk)
    is_mine = bool(free.update(state=Import.State.RUNNING, heartbeat_at=timezone.now(), problem=""))
    job.refresh_from_db()
    return is_mine


def _succeed(job: Import, dataset: Dataset) -> None:
    job.note(f"Done: {dataset}.")
    job.report(state=Import.State.DONE, dataset=dataset, progress=1.0, step="")
    shutil.rmtree(job.folder, ignore_errors=True)


def fail(job: Import, problem: str) -> None:
    job.note(problem)
    job.report(state=Import.State.FAILED, problem=problem, step="")
