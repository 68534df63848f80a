"""What the background worker tells the apps whose jobs it runs: it knows none of them."""

from django.dispatch import Signal

# Sent when a worker starts, and every few seconds while it works: take over what a dead worker left, and enqueue
# what is due.
recovery_due = Signal()
