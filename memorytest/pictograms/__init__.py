"""The pictograms of the memory test: one SVG file each, named by the word for what it shows."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent

NAMES: tuple[str, ...] = tuple(sorted(path.stem for path in _FOLDER.glob("*.svg")))


class UnknownPictogram(LookupError):
    """No pictogram has this name."""


@cache
def svg(name: str) -> bytes:
    """Return the drawing's file, ready to be served as image/svg+xml."""
    # Only listed names reach the file system, so a name cannot lead out of the folder.
    if name not in NAMES:
        raise UnknownPictogram(f"No pictogram is called {name!r}; NAMES lists those there are.")
    return (_FOLDER / f"{name}.svg").read_bytes()
