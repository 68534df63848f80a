"""What other apps may want to hear about; the senders do not know who listens."""

from django.dispatch import Signal

# A participant has answered the last task. Sent with `participant`, inside the transaction of that answer.
session_finished = Signal()
