"""The verbs of an import. The admin and the command line do the same through these."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from datasets.models import Import, ImportQuerySet, TakenOver
from datasets.tasks import work_on_import
from studies.keys import new_key
from studies.models import Dataset

if TYPE_CHECKING:
    from .watch import Watch

logger = logging.getLogger(__name__)


class WrongState(Exception):
    """An order that does not fit the state of the import."""


def start_from_upload(job: Import, upload: UploadedFile[Any]) -> Import:
    """Keeps the uploaded file and hands the import to a worker."""
    job.source = str(job.folder / "source.zip")
    job.file_name = Path(upload.name or "upload.zip").name[:200]
    job.heartbeat_at = timezone.now()
    job.save()
    # After the transaction: a gigabyte takes a while, and everybody else's writes would wait for it.
    transaction.on_commit(partial(_keep, job, upload))
    return job


def _keep(job: Import, upload: UploadedFile[Any]) -> None:
    try:
        job.folder.mkdir(parents=True)
        with Path(job.source).open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
    except OSError as error:
        shutil.rmtree(job.folder, ignore_errors=True)
        fail(
            job,
            f"{job.file_name}: The server could not keep the file ({error.strerror}). "
            "Make room on its disk, remove this import, and upload the file again.",
        )
    else:
        enqueue(job)


def enqueue(job: Import) -> None:
    transaction.on_commit(partial(work_on_import.enqueue, job.pk))


def choose_features(job: Import, extractor: str) -> None:
    """The researcher's choice: the import goes on with these features."""
    known = {row["name"] for row in job.findings.get("candidates", []) if row.get("accuracy")}
    choosing = Import.objects.filter(pk=job.pk, state=Import.State.CHOOSING)
    if extractor not in known or not _put_in_line(choosing, extractor=extractor):
        raise WrongState("Choose one of the kinds of features that the import has measured.")
    enqueue(job)


def cancel(job: Import) -> None:
    """Stops an import; what was worked out is kept for a resume."""
    this = Import.objects.filter(pk=job.pk)
    if not (
        this.idle().update(state=Import.State.CANCELLED, cancel_requested=True, step="")
        or this.filter(state=Import.State.RUNNING).update(cancel_requested=True)
    ):
        raise WrongState("This import has ended already.")


def resume(job: Import, *, skips_bad_images: bool | None = None) -> None:
    """Takes an import up again where it stopped."""
    wish = {} if skips_bad_images is None else {"skips_bad_images": skips_bad_images}
    if not _put_in_line(Import.objects.stopped().filter(pk=job.pk), problem="", **wish):
        raise WrongState("This import does not need to be resumed.")
    enqueue(job)


def _put_in_line(imports: ImportQuerySet, **fields: Any) -> int:
    """One statement, so that of two orders at the same time only one counts."""
    return imports.update(
        state=Import.State.WAITING, cancel_requested=False, heartbeat_at=timezone.now(), **fields
    )


def recover(**options: Any) -> None:
    """Hears the worker: takes up the imports that a dead one left, running or waiting."""
    resume_orphans()
    enqueue_forgotten()


def resume_orphans() -> int:
    """Hands the imports of killed workers to the next one; returns how many."""
    orphans = Import.objects.orphaned()
    resumed = 0
    for job in list(orphans):
        if _put_in_line(orphans.filter(pk=job.pk)):
            job.note("The worker was stopped; another one goes on.")
            enqueue(job)
            resumed += 1
    return resumed


def enqueue_forgotten() -> None:
    """A worker that is killed between taking an order and beginning it leaves nothing but a waiting import.

    An order too many does no harm: whoever comes second finds the import taken.
    """
    forgotten = Import.objects.silent().filter(state=Import.State.WAITING)
    for job in list(forgotten):
        if forgotten.filter(pk=job.pk).update(heartbeat_at=timezone.now()):
            enqueue(job)


def discard(job: Import) -> None:
    """Removes an import and its files; the data set that it made stays."""
    if job.is_at_work:
        raise WrongState(f"{job.name} is being worked on. Cancel the import first.")
    shutil.rmtree(job.folder, ignore_errors=True)
    _remove_unfinished(job.run)
    job.delete()


def run(job: Import, echo: Callable[[str], None] = lambda line: None) -> None:
    """Works on an import until it is done, needs a choice, or meets a problem. All or nothing."""
    if not _claim(job):
        return
    # The libraries of features are loaded here, in the worker, and never in a web process.
    from .watch import Watch, beating

    try:
        with beating(job):
            _work(job, Watch(job, echo))
    except TakenOver:
        logger.warning("import %s was taken over or removed", job.pk)


def _work(job: Import, watch: Watch) -> None:
    from datasets.errors import ImportProblem
    from datasets.extractors import Cancelled, ExtractorError
    from teaching.engine import EngineError

    from . import examination, finishing

    try:
        examined = examination.examine(job, watch)
        job.report(findings=job.findings | examination.findings_of(examined))
        if not job.extractor:
            watch.note("Choose the features to go on.")
            job.report(state=Import.State.CHOOSING, step="")
            return
        dataset = finishing.finish(job, examined, watch, on_saved=partial(_succeed, job))
        watch.note(f"Done: {dataset}.")
        shutil.rmtree(job.folder, ignore_errors=True)
    except Cancelled:
        job.note("Cancelled.")
        job.report(state=Import.State.CANCELLED, step="")
    except (ImportProblem, ExtractorError, EngineError) as problem:
        fail(job, str(problem))
    except TakenOver:
        raise
    except Exception:
        logger.exception("import %s failed", job.pk)
        fail(
            job,
            "Something unexpected went wrong; the server's log has the details. Try again, or report it.",
        )


def _claim(job: Import) -> bool:
    """Makes the import this worker's, unless another one has it."""
    before = job.run
    is_mine = (
        Import.objects.free()
        .filter(pk=job.pk)
        .update(state=Import.State.RUNNING, heartbeat_at=timezone.now(), problem="", run=new_key())
    )
    if is_mine:
        job.refresh_from_db()
        _remove_unfinished(before)
    return bool(is_mine)


def _remove_unfinished(run: str) -> None:
    """What a worker that was killed at the last step left of its data set."""
    if run and not Dataset.objects.filter(key=run).exists():
        shutil.rmtree(Dataset(key=run).folder, ignore_errors=True)


def _succeed(job: Import, dataset: Dataset) -> None:
    """In the transaction that makes the data set: there is never one without the other."""
    job.report(state=Import.State.DONE, dataset=dataset, progress=1.0, step="")


def fail(job: Import, problem: str) -> None:
    job.note(problem)
    job.report(state=Import.State.FAILED, problem=problem, step="")
