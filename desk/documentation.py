"""The documentation in `docs/` as pages of the desk, rendered from Markdown, with working links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

FOLDER = settings.BASE_DIR / "docs"
IMAGES = FOLDER / "images"
# Every file of the folder with a description, in the order of the index.
DOCUMENTS = {
    "researchers": "From the first sign-in to payment: studies, recruiting, the monitor, quality and exclusion.",
    "datasets": "Your own images as a data set: what to bring, what is checked, what the numbers mean.",
    "rehearsal": "Bots before participants, expected results, and the sample size for a given difference.",
    "results": "What every number and test on the results page means and assumes.",
    "settings": "Every setting of a study, with its name and default.",
    "data-dictionary": "Every column of every file.",
    "privacy": "What is stored, for how long, and what to write into an ethics form.",
    "api": "Sessions and studies from your own programs.",
    "reliability": "Guarantees about answers, labels and faults, their tests, and how to check them.",
    "deployment": "Running the server: HTTPS, Postgres, backups, several machines.",
    "scale": "How many participants a machine can serve, and how to measure yours.",
    "algorithm": "The teachers, with their formulas and where they differ from the paper.",
    "people": "What is known about the learner models from real people, and what is not.",
    "data-formats": "Bring trial-by-trial data of your own people to the learner models.",
    "reproduction": "The paper’s experiments, run again.",
    "engine": "The teachers as a Python library.",
    "architecture": "How the software is built.",
}
# A link text that is only a file name.
FILE = re.compile(rf"^({'|'.join(DOCUMENTS)})\.md$")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@dataclass(frozen=True)
class Document:
    name: str
    title: str
    body: SafeString

    @property
    def url(self) -> str:
        return document_url(self.name)

    @property
    def about(self) -> str:
        return DOCUMENTS[self.name]


def document_url(name: str, anchor: str = "") -> str:
    return reverse("document", args=[name]) + (f"#{anchor}" if anchor else "")


@lru_cache(maxsize=len(DOCUMENTS))
def document_title(name: str) -> str:
    with (FOLDER / f"{name}.md").open(encoding="utf-8") as lines:
        return next(lines).removeprefix("#").strip()


@lru_cache(maxsize=len(DOCUMENTS))
def document(name: str) -> Document:
    # Imported here to keep the server's start fast.
    from markdown_it import MarkdownIt

    text = COMMENT.sub("", (FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    # HTML in the text is escaped.
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    # Skip the heading: the page has its own.
    del tokens[:3]
    for token, inside in zip(tokens, [*tokens[1:], None], strict=True):
        rewrite(token, inside)
    body = reader.renderer.render(tokens, reader.options, {})
    return Document(name, document_title(name), mark_safe(body))  # noqa: S308 - our own files, and no HTML in them


def rewrite(token: Token, inside: Token | None) -> None:
    if token.type == "heading_open" and inside:
        token.attrSet("id", heading_anchor(inside.content))
    if token.type in ("th_open", "td_open") and token.attrs.pop("style", ""):
        # The content security policy allows no styles inside the markup.
        token.attrSet("class", "number")
    if token.children:
        token.children = rewrite_links(token.children)


def rewrite_links(tokens: Sequence[Token]) -> list[Token]:
    """Point links to other documents and images to their pages. Links to other files of the project become text."""
    rewritten, drops_link = [], False
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", image_url(Path(str(token.attrGet("src"))).name))
        if token.type == "link_open":
            href = site_url(str(token.attrGet("href")))
            drops_link = href is None
            token.attrSet("href", href or "")
        if token.type == "text":
            token.content = FILE.sub(lambda found: document_title(found[1]), token.content)
        if token.type not in ("link_open", "link_close") or not drops_link:
            rewritten.append(token)
        drops_link = drops_link and token.type != "link_close"
    return rewritten


def site_url(href: str) -> str | None:
    """The URL on this site; None for files that are not served."""
    if href.startswith(("#", "https://", "http://")):
        return href
    if href.startswith("images/"):
        return image_url(Path(href).name)
    name, _, anchor = href.partition("#")
    name = name.removesuffix(".md")
    return document_url(name, anchor) if name in DOCUMENTS else None


def image_url(name: str) -> str:
    return reverse("document_image", args=[name])


def image_file(name: str) -> Path | None:
    """An image of the documentation; None if there is none of that name."""
    return next((file for file in IMAGES.glob("*.png") if file.name == name), None)


def heading_anchor(heading: str) -> str:
    """The anchor of a heading, as on GitHub: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def index(request: HttpRequest) -> HttpResponse:
    rows = [
        {"title": document_title(name), "url": document_url(name), "about": about}
        for name, about in DOCUMENTS.items()
    ]
    context = admin.site.each_context(request) | {"title": "Documentation", "rows": rows}
    return TemplateResponse(request, "admin/desk/documentation.html", context)


def page(request: HttpRequest, name: str) -> HttpResponse:
    if name not in DOCUMENTS:
        raise Http404
    found = document(name)
    context = admin.site.each_context(request) | {"title": found.title, "document": found}
    return TemplateResponse(request, "admin/desk/document.html", context)


def image(request: HttpRequest, name: str) -> FileResponse:
    file = image_file(name)
    if file is None:
        raise Http404
    return FileResponse(file.open("rb"), content_type="image/png")


urlpatterns = [
    path("", admin.site.admin_view(index), name="documentation"),
    path("images/<str:name>", admin.site.admin_view(image), name="document_image"),
    path("<slug:name>/", admin.site.admin_view(page), name="document"),
]
