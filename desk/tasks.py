"""What the background worker carries out for the desk."""

from django_tasks import task

from .models import WebhookDelivery


# Before the imports that wait: it is a matter of seconds.
@task(priority=10)
def deliver_webhook(delivery_id: int, tries: int) -> None:
    from .connections import webhooks

    rows = WebhookDelivery.objects.select_related("study")
    if delivery := rows.filter(pk=delivery_id).first():
        webhooks.deliver(delivery, tries)
