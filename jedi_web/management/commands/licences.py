"""Lists the packages that a server installs, with their licences."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", re.MULTILINE)


class Command(BaseCommand):
    help = "Lists every package of requirements.txt with its version and its licence."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, version, licence in licences():
            self.stdout.write(f"{name:28} {version:12} {licence}")


def licences() -> Iterator[tuple[str, str, str]]:
    """Name, version and licence; some are for other systems or another Python than this."""
    text = (settings.BASE_DIR / "requirements.txt").read_text()
    for name, version in PINNED.findall(text):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            yield name, version, "(not installed on this system)"
            continue
        if package.version == version:
            yield name, version, licence_of(package)


def licence_of(package: Distribution) -> str:
    """From the newest of the three fields that packages have used for it."""
    fields = package.metadata
    if expressions := fields.get_all("License-Expression"):
        return str(expressions[0])
    known = [line for line in fields.get_all("Classifier", []) if line.startswith("License ::")]
    if known:
        return "; ".join(line.rpartition(" :: ")[2] for line in known)
    return str(fields.get_all("License", ["unknown"])[0]).partition("\n")[0]
