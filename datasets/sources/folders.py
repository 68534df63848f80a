"""Labels from folders: one for each class, or one for each side with the classes inside."""

from __future__ import annotations

from collections.abc import Sequence

from .manifest import SIDES, ManifestRow


def rows_from_folders(names: Sequence[str]) -> dict[str, ManifestRow]:
    """Label and side of every image that lies in a folder. Folders inside a class are part of it."""
    parts = {name: name.split("/") for name in names if "/" in name}
    tops = {part[0].casefold() for part in parts.values()}
    # Two folders called train and test are no classes, and nobody should learn to tell them apart.
    if tops and tops <= set(SIDES):
        return {
            name: ManifestRow(part[1], SIDES[part[0].casefold()])
            for name, part in parts.items()
            if len(part) > 2
        }
    return {name: ManifestRow(part[0], None) for name, part in parts.items()}
