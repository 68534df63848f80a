"""What can be done with an import, in the admin and on the command line."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from image_datasets.models import FILES_KEPT, Import, ImportQuerySet
from image_datasets.remedy import Remedy
from jobs.lease import work_on
from jobs.models import TakenOver, claim
from studies import audit
from studies.models import AuditEntry, Dataset

if TYPE_CHECKING:
    from .progress import ImportProgress

logger = logging.getLogger(__name__)


FILES_FAILED = (
    "The server could not read or write a file ({reason}). Make room on its disk, or make the data folder writable, "
    "and try again: the work done so far is kept."
)


class WrongState(Exception):
    """An action that the state of the import does not allow."""


def start_from_upload(job: Import, upload: UploadedFile[Any]) -> Import:
    """Store the uploaded file and queue the import."""
    job.source = str(job.folder / "source.zip")
    job.file_name = Path(upload.name or "upload.zip").name[:200]
    job.heartbeat_at = timezone.now()
    job.save()
    # After the transaction: copying a gigabyte takes a while, and all other writes would wait for it.
    transaction.on_commit(partial(_store_upload, job, upload))
    return job


def _store_upload(job: Import, upload: UploadedFile[Any]) -> None:
    try:
        job.folder.mkdir(parents=True)
        with Path(job.source).open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
    except OSError as error:
        shutil.rmtree(job.folder, ignore_errors=True)
        problem = (
            f"{job.file_name}: The server could not keep the file ({error.strerror}). "
            "Make room on its disk, remove this import, and upload the file again."
        )
        claim(Import.objects.all(), job, state=Import.State.FAILED, problem=problem)
        job.note(problem)
    else:
        job.enqueue()


def choose_features(job: Import, extractor: str) -> None:
    """Continue the import with the features that the researcher chose."""
    known = {row["name"] for row in job.findings.get("candidates", []) if row.get("accuracy")}
    choosing = Import.objects.filter(state=Import.State.CHOOSING)
    if extractor not in known or not _queue(choosing, job, extractor=extractor):
        raise WrongState("Choose one of the kinds of features that the import has measured.")
    job.enqueue()


def measure_again(job: Import, remedy: Remedy, classes: Sequence[str]) -> None:
    """Measure under another remedy or with other classes; then the researcher chooses again."""
    waiting = Import.objects.filter(state=Import.State.CHOOSING) | Import.objects.stopped()
    fields = remedy.as_json() | {"only_classes": list(classes)}
    if job.only_classes != fields["only_classes"]:
        # The numbers of other classes cannot be compared with these.
        fields["findings"] = job.findings | {"trials": []}
    if not _queue(waiting, job, problem="", **fields):
        raise WrongState("The import can be measured again while it waits for your choice.")
    job.enqueue()


def cancel(job: Import) -> None:
    """Stop an import; its files are kept, so that it can be resumed."""
    rows = Import.objects.filter(pk=job.pk)
    if not (
        rows.idle().update(
            state=Import.State.CANCELLED,
            cancel_requested=True,
            step="",
            heartbeat_at=timezone.now(),
        )
        or rows.filter(state=Import.State.RUNNING).update(cancel_requested=True)
    ):
        raise WrongState("This import has ended already.")


def resume(job: Import, *, skips_bad_images: bool | None = None) -> None:
    """Queue an import again that failed, was cancelled or lost its worker."""
    fields = {} if skips_bad_images is None else {"skips_bad_images": skips_bad_images}
    if not _queue(Import.objects.stopped(), job, problem="", **fields):
        raise WrongState("This import does not need to be resumed.")
    job.enqueue()


def _queue(imports: ImportQuerySet, job: Import, **fields: Any) -> bool:
    return claim(
        imports,
        job,
        state=Import.State.WAITING,
        cancel_requested=False,
        attempts=0,
        heartbeat_at=timezone.now(),
        **fields,
    )


def discard(job: Import) -> None:
    """Delete an import and its files; the data set that it made stays."""
    if job.is_at_work:
        raise WrongState(f"{job.name} is being worked on. Cancel the import first.")
    folders = [job.folder, *_unfinished(job.run)]
    job.delete()
    # After the commit: a rollback could not bring the files back.
    transaction.on_commit(partial(_remove, folders))


def delete_outdated_files(**options: Any) -> None:
    """Delete the files of imports that nobody has continued for 30 days. The worker calls it every few seconds."""
    for job in list(Import.objects.outdated()):
        problem = (
            f"Nobody continued this import for {FILES_KEPT.days} days. Upload the images again."
        )
        with transaction.atomic():
            if claim(
                Import.objects.outdated(), job, state=Import.State.EXPIRED, problem=problem, step=""
            ):
                detail = f"Deleted the files of the import {job.name} after {FILES_KEPT.days} days."
                audit.record(AuditEntry.Action.DELETE, detail, actor="the background worker")
    # All expired imports, because a worker may have been killed before it deleted the files.
    _remove(job.folder for job in Import.objects.filter(state=Import.State.EXPIRED).only("key"))


def run(job: Import, echo: Callable[[str], None] = lambda line: None) -> None:
    """Work on an import until it is done, waits for a choice, or has a problem."""
    before = job.run
    if not job.claim():
        return
    _remove(_unfinished(before))
    # The libraries of features are loaded here, in the worker, and never in a web process.
    from .progress import ImportProgress

    work_on(job, lambda lease: _work(job, ImportProgress(job, echo)))


def _work(job: Import, progress: ImportProgress) -> None:
    from image_datasets.errors import ImportProblem
    from image_datasets.extractors.base import Cancelled, ExtractorError
    from teaching.engine import EngineError

    from . import finishing, measuring

    try:
        # Two tasks: the researcher's choice may lie between them, or a restart of the worker.
        measured = measuring.Handover.load(job)
        if measured is None:
            measured = measuring.measure(job, progress)
        if not job.extractor:
            job.report(state=Import.State.CHOOSING, step="")
            progress.note("Choose the features to continue.")
            return
        dataset = finishing.finish(job, measured, progress, on_saved=partial(_succeed, job))
        progress.note(f"Done: {dataset}.")
        shutil.rmtree(job.folder, ignore_errors=True)
    except Cancelled:
        job.report(state=Import.State.CANCELLED, step="")
        job.note("Cancelled.")
    except (ImportProblem, ExtractorError, EngineError) as problem:
        fail(job, str(problem))
    except TakenOver:
        raise
    except OSError as error:
        logger.warning("import %s stopped: %s", job.pk, error)
        fail(job, FILES_FAILED.format(reason=error.strerror or error))
    except Exception:
        logger.exception("import %s failed", job.pk)
        fail(
            job,
            "Something unexpected went wrong; the server's log has the details. Try again, or report it.",
        )


def _unfinished(run: str) -> list[Path]:
    """The folder of a data set that a worker was writing when it was killed, if any."""
    is_left = run and not Dataset.objects.filter(key=run).exists()
    return [Dataset(key=run).folder] if is_left else []


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _succeed(job: Import, dataset: Dataset) -> None:
    """Called in the transaction that inserts the data set: neither exists without the other."""
    job.report(state=Import.State.DONE, dataset=dataset, progress=1.0, step="")


def fail(job: Import, problem: str) -> None:
    job.report(state=Import.State.FAILED, problem=problem, step="")
    job.note(problem)
