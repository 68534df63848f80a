from importlib import import_module

import pytest
from django.apps import apps
from django_tasks_db.models import DBTaskResult

from image_datasets.tasks import work_on_import


@pytest.mark.django_db
def test_an_import_queued_before_the_package_was_renamed_is_found():
    migration = import_module("image_datasets.migrations.0006_task_path")
    work_on_import.enqueue(1)
    [operation] = migration.Migration.operations
    operation.reverse_code(apps, None)
    assert DBTaskResult.objects.get().task_path == "datasets.tasks.work_on_import"
    operation.code(apps, None)
    assert DBTaskResult.objects.get().task_path == work_on_import.module_path
