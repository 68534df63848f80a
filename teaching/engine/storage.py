"""A folder of arrays with their digests: written whole or not at all, checked and then mapped."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import BadPoolFolder

FORMAT = "jedi-pool"
# Version 1 knew two classes: labels −1 and +1, a target (d,), label sums (n,).
VERSION, READABLE = 2, (1, 2)
DESCRIPTION = "format.json"
# As `sha256sum -c` reads them. A file of its own: earlier releases, which know no digests, can read the folder.
DIGESTS = "SHA256SUMS"

AnyArray = npt.NDArray[Any]


def write(folder: Path, arrays: Mapping[str, AnyArray]) -> None:
    """Write arrays to a new folder. A crash half-way leaves no folder of that name."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadPoolFolder(f"{folder} is not empty; save to a new folder or remove this one.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for name, array in arrays.items():
            _write_array(draft / f"{name}.npy", array)
        described = {name: _description(array) for name, array in arrays.items()}
        content = {"format": FORMAT, "version": VERSION, "arrays": described}
        _write_text(draft / DESCRIPTION, json.dumps(content, indent=1) + "\n")
        digests = [f"{_digest(path)}  {path.name}\n" for path in sorted(draft.iterdir())]
        _write_text(draft / DIGESTS, "".join(digests))
        # A temporary folder is private; the processes that map the pool may be other users'.
        draft.chmod(0o755)
        draft.rename(folder)
    except OSError as error:
        raise BadPoolFolder(f"Cannot write a pool to {folder}: {error}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read(folder: Path) -> dict[str, AnyArray]:
    """Map the arrays of a folder that is complete and unchanged."""
    arrays = map_arrays(folder)
    verify(folder)
    return arrays


def verify(folder: Path) -> None:
    """Compare every file with its digest. The folders of earlier releases have none, and pass."""
    if not (folder / DIGESTS).exists():
        return
    try:
        lines = (folder / DIGESTS).read_text(encoding="utf-8").splitlines()
        digests = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
        changed = [name for name, digest in digests.items() if _digest(folder / name) != digest]
    except (OSError, ValueError) as error:
        raise BadPoolFolder(f"The digests of {folder} cannot be checked ({error}).") from error
    if changed:
        raise BadPoolFolder(
            f"{folder} holds a damaged pool ({', '.join(changed)} changed since it was saved); "
            "bring it back from a backup, or save the pool again to a new folder."
        )


def map_arrays(folder: Path) -> dict[str, AnyArray]:
    """Map the arrays of a folder, read-only, so that processes share their pages."""
    try:
        described = _described_arrays(folder)
        return {name: _map_array(folder / f"{name}.npy", what) for name, what in described.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadPoolFolder(
            f"{folder} holds no complete pool ({error}); save the pool again to a new folder."
        ) from error


def _write_array(path: Path, array: AnyArray) -> None:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _write_text(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _description(array: AnyArray) -> dict[str, Any]:
    return {"dtype": array.dtype.str, "shape": list(array.shape)}


def _described_arrays(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{DESCRIPTION} does not describe a pool")
    if content.get("version") not in READABLE:
        raise ValueError(f"its version is {content.get('version')}, this is {VERSION}")
    return dict(content["arrays"])


def _map_array(path: Path, described: dict[str, Any]) -> AnyArray:
    # Empty arrays have no page to map.
    is_empty = 0 in described["shape"]
    array = np.load(path, mmap_mode=None if is_empty else "r", allow_pickle=False)
    if _description(array) != described:
        raise ValueError(f"{path.name} is not what {DESCRIPTION} says")
    return np.asarray(array)
