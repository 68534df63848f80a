"""The task of the background worker. Queued tasks store its module path, so it must not move."""

from django_tasks import task

from .models import Import


@task()
def work_on_import(import_id: int) -> None:
    from .imports import services

    if job := Import.objects.filter(pk=import_id).first():
        services.run(job)
