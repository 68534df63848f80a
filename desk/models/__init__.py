"""What the desk keeps beside the studies themselves."""

from .people import Decision, Payment
from .tokens import AccessToken
from .webhooks import WebhookDelivery

__all__ = ["AccessToken", "Decision", "Payment", "WebhookDelivery"]
