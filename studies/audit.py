"""The audit log: who did what with a study's data."""

from typing import Any

from .models import AuditEntry, Study

# Management commands have no account.
SHELL = "command line"
WORKER = "the worker"


def record(
    action: str, detail: str, *, study: Study | None = None, actor: Any = None
) -> AuditEntry:
    """Add an entry; `actor` is a user, or a name for somebody without an account."""
    is_user = actor is not None and not isinstance(actor, str)
    return AuditEntry.objects.create(
        action=action,
        detail=detail[:500],
        study=study,
        study_name=study.slug if study else "",
        actor=actor if is_user else None,
        actor_name=actor.get_username() if is_user else actor or SHELL,
    )
