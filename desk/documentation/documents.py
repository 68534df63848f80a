"""Documents: the Markdown files in `docs/` as safe markup, with links between them that work in the product."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

FOLDER = settings.BASE_DIR / "docs"
IMAGES = FOLDER / "images"
# Every file of the folder, with what one finds in it, in the order in which a researcher meets them.
DOCUMENTS = {
    "researchers": "From the first sign-in to payment: studies, recruiting, the monitor, quality and exclusion.",
    "datasets": "Your own images as a data set: what to bring, what is checked, what the numbers mean.",
    "rehearsal": "Bots before people, the expected results, and how many workers a difference takes.",
    "results": "What every number and test on the results page means and assumes.",
    "settings": "Every setting of a study, with its name and default.",
    "data-dictionary": "Every column of every file.",
    "privacy": "What is stored, for how long, and what to write into an ethics form.",
    "api": "Sessions and studies from your own programs.",
    "reliability": "What is promised about answers, labels and faults, how it is shown, and how to check it.",
    "deployment": "Running the server: HTTPS, Postgres, backups, several machines.",
    "scale": "How many workers a machine carries, and how to find out on yours.",
    "algorithm": "The teachers, with their formulas and where they differ from the paper.",
    "people": "What is known about the learner models from real people, and what is not.",
    "data-formats": "Bring trial-by-trial data of your own people to the learner models.",
    "reproduction": "The paper’s experiments, run again.",
    "engine": "The teachers as a Python library.",
    "architecture": "How the software is built.",
}
# A text that is nothing but the name of a document's file.
FILE = re.compile(rf"^({'|'.join(DOCUMENTS)})\.md$")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@dataclass(frozen=True)
class Document:
    name: str
    title: str
    body: SafeString

    @property
    def url(self) -> str:
        return address_of(self.name)

    @property
    def about(self) -> str:
        return DOCUMENTS[self.name]


def address_of(name: str, anchor: str = "") -> str:
    return reverse("document", args=[name]) + (f"#{anchor}" if anchor else "")


@lru_cache(maxsize=len(DOCUMENTS))
def title_of(name: str) -> str:
    with (FOLDER / f"{name}.md").open(encoding="utf-8") as lines:
        return next(lines).removeprefix("#").strip()


@lru_cache(maxsize=len(DOCUMENTS))
def document(name: str) -> Document:
    # Only these pages need it, and no other should wait for it to load.
    from markdown_it import MarkdownIt

    text = COMMENT.sub("", (FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    # Markup inside the text is shown, not obeyed.
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    # The page has its own heading.
    del tokens[:3]
    for token, inside in zip(tokens, [*tokens[1:], None], strict=True):
        prepare(token, inside)
    body = reader.renderer.render(tokens, reader.options, {})
    return Document(name, title_of(name), mark_safe(body))  # noqa: S308 - our own files, and no HTML in them


def prepare(token: Token, inside: Token | None) -> None:
    if token.type == "heading_open" and inside:
        token.attrSet("id", anchor_of(inside.content))
    if token.type in ("th_open", "td_open") and token.attrs.pop("style", ""):
        # The content security policy allows no styles inside the markup.
        token.attrSet("class", "number")
    if token.children:
        token.children = with_own_links(token.children)


def with_own_links(tokens: Sequence[Token]) -> list[Token]:
    """Links to other documents lead to their pages, pictures come from the product, and links to other files of the
    project stay as plain words."""
    kept, is_dropped = [], False
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", image_address(Path(str(token.attrGet("src"))).name))
        if token.type == "link_open":
            href = own_link(str(token.attrGet("href")))
            is_dropped = href is None
            token.attrSet("href", href or "")
        if token.type == "text":
            token.content = FILE.sub(lambda found: title_of(found[1]), token.content)
        if token.type not in ("link_open", "link_close") or not is_dropped:
            kept.append(token)
        is_dropped = is_dropped and token.type != "link_close"
    return kept


def own_link(href: str) -> str | None:
    """None for a file that the product does not show."""
    if href.startswith(("#", "https://", "http://")):
        return href
    if href.startswith("images/"):
        return image_address(Path(href).name)
    name, _, anchor = href.partition("#")
    name = name.removesuffix(".md")
    return address_of(name, anchor) if name in DOCUMENTS else None


def image_address(name: str) -> str:
    return reverse("document_image", args=[name])


def image_file(name: str) -> Path | None:
    """A picture of the documentation; None if there is none of that name."""
    return next((file for file in IMAGES.glob("*.png") if file.name == name), None)


def anchor_of(heading: str) -> str:
    """As the links in the files expect it: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
