"""The sentences below the settings, with links to the documentation."""

from __future__ import annotations

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from desk.documentation.documents import DOCUMENTS, address_of, title_of


def with_links(text: str) -> SafeString:
    """A text in which the titles of documents, in quotation marks, lead to them."""
    found = conditional_escape(text)
    for name in DOCUMENTS:
        title = conditional_escape(title_of(name))
        # A new tab: whoever reads has a form half filled in.
        link = format_html('<a href="{}" target="_blank">{}</a>', address_of(name), title)
        found = mark_safe(found.replace(f"“{title}”", f"“{link}”"))  # noqa: S308 - escaped, piece by piece
    return found
