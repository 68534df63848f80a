"""Choices that are part of a page's address: each is a row of links, one of them marked."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True)
class Option:
    title: str
    query: str
    """What follows the page's path; empty for the plain page."""
    is_on: bool


@dataclass(frozen=True)
class Switch:
    title: str
    options: tuple[Option, ...]


def switch(title: str, name: str, titles: Mapping[str, str], chosen: Mapping[str, str]) -> Switch:
    """One choice: the titles of its values, "" for what is so by itself. What else was chosen stays."""
    return Switch(
        title,
        tuple(
            Option(words, query_of({**chosen, name: value}), chosen.get(name, "") == value)
            for value, words in titles.items()
        ),
    )


def query_of(chosen: Mapping[str, str]) -> str:
    said = {name: value for name, value in chosen.items() if value}
    return f"?{urlencode(said)}" if said else ""
