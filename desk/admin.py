"""What the desk registers in the admin, each beside the page it belongs to."""

from desk.access import accounts, tokens
from desk.participants import admin as participants
from desk.privacy import page as audit
from desk.setup import admin as studies

__all__ = ["accounts", "audit", "participants", "studies", "tokens"]
