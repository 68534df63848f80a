"""Background tasks of the desk."""

from django_tasks import task

from .models import WebhookDelivery


# A delivery takes seconds, so it runs before waiting imports.
@task(priority=10)
def deliver_webhook(delivery_id: int, tries: int) -> None:
    from . import connections

    rows = WebhookDelivery.objects.select_related("study")
    if delivery := rows.filter(pk=delivery_id).first():
        connections.deliver(delivery, tries)
