"""An import is whole or not at all: whatever fails, is cancelled, is taken over or comes twice."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from image_datasets.imports import (
    comparison,
    creation,
    finishing,
    measuring,
    preparation,
    progress,
    services,
)
from image_datasets.models import Import
from image_datasets.remedy import Remedy
from jobs.lease import Lease
from jobs.models import LEASE
from jobs.recovery import look_for_lost_work, recover
from studies.models import AuditEntry, Dataset, Example
from tests.image_datasets.made_imports import (
    carry_out_orders,
    folders_of,
    import_by_command,
    made,
    made_import,
    nothing_was_made,
    npz_files,
    picture_files,
    source_folder,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]

# Every step of an import, by the function that does it.
STEPS = {
    "reading the source": (measuring, "open_source"),
    "preparing the images": (measuring, "prepare_all"),
    "looking for duplicates": (measuring, "find_duplicates"),
    "splitting": (measuring, "split_by_seed"),
    "comparing": (comparison, "compare"),
    "looking for shortcuts": (comparison, "measure_cues"),
    "handing over": (measuring.Handover, "save"),
    "describing the candidates": (measuring, "describe_candidates"),
    "fitting the features": (finishing, "_fit"),
    "fitting the concept": (finishing, "fit_target"),
    "computing the insight": (finishing, "insight_of"),
    "making the graph": (creation, "Pool"),
    "writing the images": (creation, "padded"),
    "writing the pool": (creation.pools, "save"),
    "writing the features": (finishing, "save"),
    "numbering the version": (creation, "next_version"),
    "making the rows": (Example.objects, "bulk_create"),
    "ending the import": (services, "_succeed"),
}


class Trouble(Exception):
    """What nobody expects."""


@pytest.fixture
def source(tmp_path) -> Path:
    return source_folder(tmp_path / "images", npz_files())


def ran(job):
    services.run(job)
    return job


def resumed(job):
    services.resume(job)
    return ran(Import.objects.get(pk=job.pk))


def moved_back(job):
    """As if the worker had been silent for a while."""
    before = timezone.now() - LEASE - timedelta(seconds=1)
    Import.objects.filter(pk=job.pk).update(heartbeat_at=before)


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_leaves_nothing(step, source, monkeypatch):
    job = failed(step, source, monkeypatch)
    assert job.state == Import.State.FAILED
    assert "unexpected" in job.problem
    assert nothing_was_made()
    assert Import.objects.get().dataset is None


def failed(step, source, monkeypatch):
    def fail(*args, **options):
        raise Trouble

    module, name = STEPS[step]
    with monkeypatch.context() as patch:
        patch.setattr(module, name, fail)
        return ran(made_import(source))


@pytest.mark.parametrize("step", ["splitting", "writing the images", "ending the import"])
def test_a_failed_import_can_be_resumed(step, source, monkeypatch):
    job = failed(step, source, monkeypatch)
    assert resumed(job).state == Import.State.DONE
    assert Dataset.objects.count() == 1
    assert folders_of("datasets") == {Dataset.objects.get().key}
    assert folders_of("imports") == set()


def test_a_failure_half_way_through_the_images_removes_those_written(source, monkeypatch):
    written = []

    def pad(content, size):
        if len(written) == 7:
            raise Trouble
        written.append(content)
        return content

    monkeypatch.setattr(creation, "padded", pad)
    assert ran(made_import(source)).state == Import.State.FAILED
    assert len(written) == 7
    assert nothing_was_made()


def choosing(source):
    job = ran(made_import(source, extractor=""))
    assert job.state == Import.State.CHOOSING
    return job


def test_nothing_is_measured_again_after_the_choice(source, monkeypatch):
    job = choosing(source)
    for path in source.rglob("*.png"):
        path.unlink()
    monkeypatch.setattr(measuring, "measure", None)
    services.choose_features(job, "brought")
    assert ran(Import.objects.get()).state == Import.State.DONE


def test_a_choice_that_failed_is_resumed_without_measuring_again(source, monkeypatch):
    job = choosing(source)
    services.choose_features(job, "brought")
    with monkeypatch.context() as patch:
        patch.setattr(creation, "padded", None)
        assert ran(Import.objects.get()).state == Import.State.FAILED
    monkeypatch.setattr(measuring, "measure", None)
    assert resumed(Import.objects.get()).state == Import.State.DONE


@pytest.mark.parametrize("state", [Import.State.CHOOSING, Import.State.RUNNING])
def test_an_import_of_an_earlier_release_is_measured_again(state, source):
    """It left prepared images, and no hand-over."""
    job = choosing(source)
    for path in job.folder.iterdir():
        if path.is_file():
            path.unlink()
    if state == Import.State.CHOOSING:
        services.choose_features(job, "brought")
    else:
        Import.objects.update(state=state, extractor="brought")
        moved_back(job)
    assert ran(Import.objects.get()).state == Import.State.DONE
    undisturbed = import_by_command(source, name="Undisturbed", features="brought")
    assert made(Dataset.objects.get(name="Shapes")) == made(undisturbed)


@pytest.mark.parametrize("change", [{"version": 0}, {"seed": 6}, {"border": "mask"}])
def test_a_measurement_of_something_else_is_not_used(change, source):
    job = choosing(source)
    path = job.folder / "measured.json"
    content = json.loads(path.read_text())
    content["request"] |= change
    path.write_text(json.dumps(content))
    assert measuring.Handover.load(job) is None


def test_trying_another_remedy_does_not_measure_the_plain_images_again(source, monkeypatch):
    job = choosing(source)
    measured = []
    original = measuring.measure_images

    def measure_images(job, images, *args):
        measured.append(images[0].file.parent.name)
        return original(job, images, *args)

    monkeypatch.setattr(measuring, "measure_images", measure_images)
    remedy = Remedy(border="mask", border_width=20)
    services.measure_again(job, remedy, [])
    job = ran(Import.objects.get())
    assert job.state == Import.State.CHOOSING
    assert measured == [f"images-{remedy.key}"]
    assert [trial["remedy"] for trial in job.findings["trials"]] == [
        "used as they are",
        str(remedy),
    ]


@pytest.fixture
def eager(monkeypatch):
    """Every report is written, however soon after the last."""
    monkeypatch.setattr(progress, "REPORT_SECONDS", 0.0)


@pytest.fixture
def prepared(monkeypatch):
    """The names of the images that were prepared; something may be done after each."""
    names, after = [], {}
    original = preparation.prepare

    def prepare(content, name, *remedy):
        names.append(name)
        after.get(len(names), lambda: None)()
        return original(content, name, *remedy)

    monkeypatch.setattr(preparation, "prepare", prepare)
    return names, after


@pytest.mark.usefixtures("eager")
def test_a_cancelled_import_stops_soon_and_goes_on_where_it_stopped(source, prepared):
    names, after = prepared
    after[5] = lambda: services.cancel(Import.objects.get())
    job = ran(made_import(source))
    assert job.state == Import.State.CANCELLED
    assert len(names) == 5
    assert nothing_was_made()
    assert resumed(job).state == Import.State.DONE
    assert sorted(names) == sorted(name for name in npz_files() if name.endswith(".png"))
    assert made(Dataset.objects.get()) == made(import_by_command(source, name="Undisturbed"))


@pytest.mark.parametrize("state", [Import.State.WAITING, Import.State.CHOOSING])
def test_an_import_that_waits_is_cancelled_at_once(state, source):
    job = made_import(source, state=state)
    services.cancel(job)
    assert Import.objects.get().state == Import.State.CANCELLED
    services.run(job)
    assert Import.objects.get().state == Import.State.CANCELLED


@pytest.mark.parametrize("state", Import.FINISHED)
def test_an_import_that_has_ended_is_not_cancelled(state, source):
    with pytest.raises(services.WrongState):
        services.cancel(made_import(source, state=state))


@pytest.mark.usefixtures("eager")
def test_progress_never_goes_backwards(tmp_path, monkeypatch):
    seen = []
    report = Import.report

    def recorded(job, **fields):
        report(job, **fields)
        seen.append(Import.objects.get().progress)

    monkeypatch.setattr(Import, "report", recorded)
    ran(made_import(source_folder(tmp_path / "images", picture_files())))
    assert seen == sorted(seen)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert len(set(seen)) > 40


def test_a_second_worker_does_not_take_an_import_that_is_worked_on(source, prepared):
    names, after = prepared
    after[3] = lambda: services.run(Import.objects.get())
    after[4] = lambda: recover(Import)
    job = ran(made_import(source))
    assert job.state == Import.State.DONE
    assert len(names) == len(set(names))
    assert job.log.count("Reading the source") == 1


def test_a_worker_that_wakes_up_after_it_was_taken_over_changes_nothing(source, monkeypatch):
    measure = comparison.measure_cues

    def sleep_meanwhile(*args):
        monkeypatch.setattr(comparison, "measure_cues", measure)
        moved_back(Import.objects.get())
        recover(Import)
        assert Import.objects.get().state == Import.State.WAITING
        carry_out()
        return measure(*args)

    def carry_out():
        services.run(Import.objects.get())

    monkeypatch.setattr(comparison, "measure_cues", sleep_meanwhile)
    ran(made_import(source))
    job = Import.objects.get()
    assert job.state == Import.State.DONE
    assert job.progress == 1.0
    assert [job.dataset] == list(Dataset.objects.all())
    assert folders_of("datasets") == {job.dataset.key}


def test_a_worker_that_wakes_up_at_the_last_step_makes_no_second_data_set(source, monkeypatch):
    succeed = services._succeed

    def sleep_meanwhile(job, dataset):
        Import.objects.filter(pk=job.pk).update(run="another")
        succeed(job, dataset)

    monkeypatch.setattr(services, "_succeed", sleep_meanwhile)
    ran(made_import(source))
    assert nothing_was_made()


def test_what_a_killed_run_left_of_its_data_set_is_removed(source):
    job = made_import(source, state=Import.State.RUNNING, run="half-made")
    left = Dataset(key="half-made").folder / "images"
    left.mkdir(parents=True)
    moved_back(job)
    ran(Import.objects.get())
    dataset = Dataset.objects.get()
    assert folders_of("datasets") == {dataset.key}


def test_only_silent_imports_are_taken_up_again(source, django_capture_on_commit_callbacks):
    silent = made_import(source, state=Import.State.RUNNING, name="Silent")
    moved_back(silent)
    made_import(source, state=Import.State.RUNNING, name="Busy", heartbeat_at=timezone.now())
    done = made_import(source, state=Import.State.DONE, name="Done")
    moved_back(done)
    with django_capture_on_commit_callbacks(execute=True):
        recover(Import)
        recover(Import)
    assert DBTaskResult.objects.count() == 1
    carry_out_orders()
    states = dict(Import.objects.values_list("name", "state"))
    assert states == {"Silent": "done", "Busy": "running", "Done": "done"}


def test_a_waiting_import_whose_order_was_lost_gets_another(
    source, django_capture_on_commit_callbacks
):
    job = made_import(source, heartbeat_at=timezone.now())
    with django_capture_on_commit_callbacks(execute=True):
        recover(Import)
    carry_out_orders()
    assert Import.objects.get().state == Import.State.WAITING
    moved_back(job)
    with django_capture_on_commit_callbacks(execute=True):
        recover(Import)
    carry_out_orders()
    assert Import.objects.get().state == Import.State.DONE


def test_a_heartbeat_keeps_an_import_while_a_step_says_nothing(source):
    job = made_import(source, state=Import.State.RUNNING, run="mine")
    moved_back(job)
    Lease(Import(pk=job.pk, run="another")).renew()
    assert Import.objects.get().is_orphaned
    Lease(job).renew()
    assert not Import.objects.get().is_orphaned


def test_removing_an_import_keeps_its_data_set(source, django_capture_on_commit_callbacks):
    with_folder = made_import(source, extractor="")
    ran(with_folder)
    assert folders_of("imports") == {with_folder.key}
    with django_capture_on_commit_callbacks(execute=True):
        services.discard(with_folder)
    assert folders_of("imports") == set()
    done = ran(made_import(source))
    with django_capture_on_commit_callbacks(execute=True):
        services.discard(done)
    assert not Import.objects.exists()
    assert Dataset.objects.get().examples.count() == len(picture_files())
    assert folders_of("datasets") == {Dataset.objects.get().key}


def test_an_import_that_is_worked_on_is_not_removed(source, prepared):
    _, after = prepared

    def discard():
        with pytest.raises(services.WrongState, match="Cancel"):
            services.discard(Import.objects.get())

    after[3] = discard
    assert ran(made_import(source)).state == Import.State.DONE


def test_an_import_that_was_removed_behind_the_workers_back_leaves_nothing(source, prepared):
    _, after = prepared
    after[3] = lambda: Import.objects.all().delete()
    ran(made_import(source))
    assert nothing_was_made()


# Files of imports that nobody goes on with

State = Import.State


def last_seen(job, days):
    Import.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(days=days))


def stored(source, state):
    job = made_import(source)
    job.folder.mkdir(parents=True)
    (job.folder / "source.zip").write_bytes(b"PK")
    Import.objects.filter(pk=job.pk).update(state=state)
    return Import.objects.get(pk=job.pk)


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED, State.CHOOSING])
def test_the_worker_deletes_the_files_of_an_import_that_nobody_goes_on_with(state, source):
    job = stored(source, state)
    last_seen(job, 29)
    look_for_lost_work()
    assert folders_of("imports") == {job.key}
    last_seen(job, 31)
    look_for_lost_work()
    assert folders_of("imports") == set()
    job.refresh_from_db()
    assert (job.state, job.kept_until) == (State.EXPIRED, None)
    entry = AuditEntry.objects.get(action="delete")
    assert job.name in entry.detail
    # It is over: nothing can be resumed or chosen, and nothing is recorded twice.
    for order in (services.resume, services.cancel):
        with pytest.raises(services.WrongState):
            order(job)
    look_for_lost_work()
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("state", [State.WAITING, State.RUNNING])
def test_files_of_an_import_that_is_queued_or_running_stay(state, source):
    job = stored(source, state)
    last_seen(job, 400)
    look_for_lost_work()
    look_for_lost_work()
    assert (job.folder / "source.zip").exists()


def test_files_that_a_killed_worker_left_of_an_expired_import_are_deleted(source):
    stored(source, State.EXPIRED)
    look_for_lost_work()
    assert folders_of("imports") == set()


def test_whoever_cancels_an_old_import_has_a_month_to_resume_it(source):
    job = stored(source, State.CHOOSING)
    last_seen(job, 29)
    services.cancel(job)
    job.refresh_from_db()
    assert job.kept_until > timezone.now() + timedelta(days=29)


def test_the_page_says_until_when_the_upload_is_kept(source, admin_client):
    job = stored(source, State.FAILED)
    address = f"/admin/datasets/import/{job.pk}/change/"
    assert (
        f'<time datetime="{job.kept_until:%Y-%m-%d}' in admin_client.get(address).content.decode()
    )
    last_seen(job, 31)
    look_for_lost_work()
    page = admin_client.get(address).content.decode()
    assert "<time" not in page
    assert "/orders/" not in page
