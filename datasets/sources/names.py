"""How tables name images: relative to the folder, with or without the extension."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath


class Names:
    """The images of a source by every name that a table may use for them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = set(names)
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for name in self._exact:
            self._by_stem[str(PurePosixPath(name).with_suffix(""))].append(name)

    def found(self, written: str) -> str | None:
        """The image that is meant, if exactly one is. Nothing is looked up on a disk."""
        # Tables are written on Windows too.
        name = unicodedata.normalize("NFC", written.strip()).replace("\\", "/").removeprefix("./")
        if name in self._exact:
            return name
        without_ending = self._by_stem.get(name, [])
        return without_ending[0] if len(without_ending) == 1 else None
