"""Data sets and their imports in the admin."""

from . import datasets, imports

__all__ = ["datasets", "imports"]
