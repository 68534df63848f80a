"""Which version of the software is running, with its commit: many commits share a version."""

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

from django.conf import settings

# `git archive` puts the commit into this file (.gitattributes).
ARCHIVED = "COMMIT"
DIGITS = 12
# This repository and none in the folders above; the hash, whatever tags there are.
DESCRIBE = [
    *("git", "--git-dir=.git", "describe", "--always", "--exclude=*", "--dirty=.dirty"),
    f"--abbrev={DIGITS}",
]


@cache
def software_version() -> str:
    """For example 0.2.0+1cee72f41a2b, with .dirty if tracked files were changed; 0.2.0 if the commit is unknown."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    version, commit = str(project["project"]["version"]), commit_of(settings.BASE_DIR)
    return f"{version}+{commit}" if commit else version


def commit_of(folder: Path) -> str:
    """The commit of an archive, of a checkout, or of what a container has of its .git; empty if unknown."""
    try:
        if archived := re.match(rf"[0-9a-f]{{{DIGITS}}}", (folder / ARCHIVED).read_text()):
            return archived[0]
        return _described(folder) or _head(folder / ".git")[:DIGITS]
    except (OSError, ValueError):
        return ""


def _described(folder: Path) -> str:
    """Empty without git, or without a whole repository."""
    try:
        done = subprocess.run(  # noqa: S603
            DESCRIBE, cwd=folder, capture_output=True, text=True, check=True, timeout=5
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _head(git: Path) -> str:
    """What .git/HEAD points to."""
    if git.is_file():
        # A worktree: branches are in the repository that it belongs to.
        git = git.parent / git.read_text().removeprefix("gitdir:").strip()
    shared = git / (git / "commondir").read_text().strip() if (git / "commondir").exists() else git
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return head
    branch = head.removeprefix("ref:").strip()
    if (shared / branch).exists():
        return (shared / branch).read_text().strip()
    packed = re.search(
        rf"^([0-9a-f]+) {re.escape(branch)}$", (shared / "packed-refs").read_text(), re.MULTILINE
    )
    return packed[1] if packed else ""
