from django.db import migrations

BEFORE, AFTER = "datasets.tasks.work_on_import", "image_datasets.tasks.work_on_import"


def rename(apps, old, new):
    """Imports that were queued before the package was renamed are found under its new name."""
    apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(task_path=old).update(task_path=new)


class Migration(migrations.Migration):
    dependencies = [
        ("datasets", "0005_expired_imports"),
        ("django_tasks_database", "0021_conditional_partial_index_ordering"),
    ]

    operations = [
        migrations.RunPython(
            lambda apps, _: rename(apps, BEFORE, AFTER),
            lambda apps, _: rename(apps, AFTER, BEFORE),
        )
    ]
