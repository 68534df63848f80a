"""What the desk keeps beside the studies themselves."""

from .tokens import AccessToken
from .webhooks import WebhookDelivery

__all__ = ["AccessToken", "WebhookDelivery"]
