"""What others may want to hear of: senders here know nobody who listens."""

from django.dispatch import Signal

# A participant has answered the last task. Sent with `participant`, inside the transaction of that answer.
session_finished = Signal()
