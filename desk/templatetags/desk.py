"""Template tags of the desk's pages: style sheets, tables, the study's menu, and parts with queries of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from analysis.charts.tables import Column, Table
from desk import pages
from desk.documentation import DOCUMENTS, document_title, document_url
from desk.home import grouped_lists, newest_studies
from desk.models import Decision
from desk.quality import flags_by_person
from studies.models import Participant, Study

register = template.Library()

# On the first page.
MAX_DOCUMENTS = 6


@register.simple_block_tag
def stylesheets(content: str) -> SafeString:
    """Link the style sheets named inside the block: `desk/setup` is `css/desk/setup.css`."""
    addresses = ((static(f"css/{name}.css"),) for name in content.split())
    return format_html_join("\n", '<link rel="stylesheet" href="{}">', addresses)


@register.filter(is_safe=True)
def named_headers(html: str) -> str:
    """Replace the empty header cell of Django's inline tables, which accessibility checks reject."""
    return html.replace('<th class="original"></th>', '<td class="original"></td>')


@register.simple_block_tag
def table(content: str, label: str, *columns: str) -> str:
    """A table with the rows inside the block. A column is a title, or a title and a CSS class: "Since|number"."""
    parts = (column.partition("|") for column in columns)
    head = Table(label, [Column(title, css_class) for title, _, css_class in parts])
    return render_to_string("admin/desk/_table.html", {"table": head, "rows": content})


@register.inclusion_tag("admin/desk/_menu.html")
def study_menu(study: Study, here: str = "") -> dict[str, Any]:
    """The study's pages, with the open one marked."""
    items = [
        {"title": page.title, "url": page.address(study), "is_here": page.title == here}
        for page in pages.PAGES
        if page.title
    ]
    return {"study": study, "items": items}


@register.inclusion_tag("admin/desk/_home_studies.html")
def studies_of(user: Any) -> dict[str, Any]:
    """The newest studies that a researcher may see."""
    return newest_studies(user)


@register.inclusion_tag("admin/desk/_home_lists.html")
def lists_of(app_list: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The admin's lists, in groups."""
    return {"groups": grouped_lists(app_list)}


@register.inclusion_tag("admin/desk/_home_documents.html")
def documents() -> dict[str, Any]:
    """The most important documents."""
    names = list(DOCUMENTS)[:MAX_DOCUMENTS]
    return {"rows": [(document_url(name), document_title(name)) for name in names]}


@register.inclusion_tag("admin/desk/_quality_box.html", takes_context=True)
def quality_box(context: Mapping[str, Any], participant: Participant) -> dict[str, Any]:
    """The flags of a participant, the decisions about them, and the form for the next one."""
    only = Participant.objects.filter(pk=participant.pk)
    return {
        "participant": participant,
        "flags": flags_by_person(only, [participant]).get(participant.pk, ()),
        "decisions": Decision.objects.filter(participant=participant),
        "may_edit": context["may_edit"],
    }
