"""What the background worker carries out."""

from django_tasks import task

from .models import Rehearsal


@task()
def carry_out(rehearsal_id: int) -> None:
    from . import services

    rows = Rehearsal.objects.select_related("study__dataset").filter(pk=rehearsal_id)
    if rehearsal := rows.first():
        services.run(rehearsal)
