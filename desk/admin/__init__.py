"""The desk in the admin: studies and participants, and who may reach what."""

from . import accounts, audit, participants, studies, tokens

__all__ = ["accounts", "audit", "participants", "studies", "tokens"]
