"""Studies and participants in the admin."""

from . import participants, studies

__all__ = ["participants", "studies"]
