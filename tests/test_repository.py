"""What must not be in the repository, and what may be installed with it."""

import importlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from jedi_web.management.commands.licences import licences

ROOT = Path(__file__).resolve().parent.parent
# How keys of common services, private keys, our own access tokens and passwords in addresses look.
# Made-up passwords of the examples are let through.
SECRETS = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a key of AWS": r"\b(AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40,})",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a key of Stripe or OpenAI": r"\b(sk|rk)[-_](live|proj|ant)?[-_]?[A-Za-z0-9]{24,}\b",
    "a signed web token": r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
    "an access token of this software": r"\bjedi_[\w-]{43}\b",
    "a secret key of Django": r"django-insecure-\S{20,}",
    "a password in an address": r"://[\w.-]+:(?!password@|secret@|p%40ss)[^\s/@{}$…'\"]{6,}@",
}
FOUND = re.compile("|".join(f"(?P<s{place}>{one})" for place, one in enumerate(SECRETS.values())))
# What licences of the packages say, in the ways in which they say it.
ALLOWED = re.compile(
    r"MIT|BSD|Apache|ISC|Python Software|PSF|LGPL|Lesser|MPL|Mozilla|CMU|Open Font|not installed"
)


def secrets_in(text: str) -> list[str]:
    kinds = list(SECRETS)
    return [kinds[int(str(found.lastgroup)[1:])] for found in FOUND.finditer(text)]


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_file_of_the_repository_has_a_secret_in_it():
    found = {}
    for path in tracked_files():
        if path.is_file() and (kinds := secrets_in(path.read_bytes().decode("latin-1"))):
            found[path.relative_to(ROOT)] = kinds
    assert not found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("a private key", "-----BEGIN " + "RSA PRIVATE KEY-----"),
        ("a key of AWS", "AKIA" + "Q" * 16),
        ("a token of GitHub", "ghp_" + "a1" * 18),
        ("a token of Slack", "xoxb-" + "1234567890-abc"),
        ("a key of Google", "AIza" + "x" * 35),
        ("a key of Stripe or OpenAI", "sk-" + "a1" * 16),
        ("a signed web token", ".".join(["eyJ" + "a" * 12, "eyJ" + "b" * 12, "c" * 12])),
        ("an access token of this software", "jedi_" + "w" * 43),
        ("a secret key of Django", "django-insecure-" + "z" * 24),
        ("a password in an address", "postgres://user:" + "hunter22@host/name"),
    ],
)
def test_a_secret_would_be_found(kind, text):
    assert secrets_in(f"KEY = '{text}'") == [kind]


def test_the_licence_and_the_citation_agree_with_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [author] = project["authors"]
    licence = (ROOT / project["license-files"][0]).read_text()
    assert licence.startswith("BSD 3-Clause License\n")
    assert re.search(rf"^Copyright \(c\) \d+, {author['name']}$", licence, re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"] == "BSD-3-Clause"
    assert citation["authors"] == [author]
    [paper] = citation["references"]
    assert [person["family-names"] for person in paper["authors"]] == ["Zhou", "Nelakurthi", "He"]
    assert (paper["year"], paper["doi"]) == (2018, "10.1145/3219819.3219952")


def test_everything_that_a_server_installs_has_a_licence_that_allows_it():
    listed = list(licences())
    assert {"django", "numpy", "scipy"} <= {name for name, _, _ in listed}
    assert not [row for row in listed if not ALLOWED.search(row[2])]


@pytest.mark.parametrize(
    "name", ["engine.__main__", *(path.stem for path in (ROOT / "bench").glob("*.py"))]
)
def test_a_benchmark_finds_what_it_measures(name):
    importlib.import_module(f"bench.{name}")
