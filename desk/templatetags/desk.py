"""What the pages of the desk share: style sheets, the study's menu and parts with numbers of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from analysis.charts.tables import Column, Table
from desk import pages
from desk.documentation.documents import DOCUMENTS, address_of, title_of
from desk.home.lists import grouped
from desk.home.next_steps import Progress, next_step
from desk.models import Decision
from desk.quality.behaviour import flags_by_person
from studies.head_counts import with_counts
from studies.models import Participant, Study

register = template.Library()

# On the first page of the desk: studies, and documents.
NEWEST = 8
FIRST = 6


@register.simple_block_tag
def stylesheets(content: str) -> SafeString:
    """Links to the style sheets whose names stand inside, in their order: `desk/setup` is `css/desk/setup.css`."""
    addresses = ((static(f"css/{name}.css"),) for name in content.split())
    return format_html_join("\n", '<link rel="stylesheet" href="{}">', addresses)


@register.filter(is_safe=True)
def named_headers(html: str) -> str:
    """Django's table of inline forms, whose first column has no name, without an empty header for it."""
    return html.replace('<th class="original"></th>', '<td class="original"></td>')


@register.simple_block_tag
def table(content: str, label: str, *columns: str) -> str:
    """A table whose rows stand inside. A column is its title, with its class after a bar: "Since|number"."""
    parts = (column.partition("|") for column in columns)
    head = Table(label, [Column(title, css_class) for title, _, css_class in parts])
    return render_to_string("admin/desk/base/_table.html", {"table": head, "rows": content})


@register.inclusion_tag("admin/desk/base/_menu.html")
def study_menu(study: Study, here: str = "") -> dict[str, Any]:
    """The study's pages, the open one marked."""
    items = [
        {"title": page.title, "url": page.address(study), "is_here": page.title == here}
        for page in pages.PAGES
        if page.title
    ]
    return {"study": study, "items": items}


def often_opened(study: Study) -> list[tuple[str, str]]:
    """(address, title) of the pages that lists of studies link to."""
    return [(page.address(study), page.title) for page in pages.PAGES if page.is_often_opened]


@register.inclusion_tag("admin/desk/home/_studies.html")
def studies_of(user: Any) -> dict[str, Any]:
    """The newest studies that a researcher may see, with the way to their pages."""
    visible = Study.objects.visible_to(user)
    newest = with_counts(visible.order_by("-pk"))[:NEWEST]
    editable = set(Study.objects.editable_by(user).values_list("pk", flat=True))
    may_change = user.has_perm("studies.change_study")
    return {
        "rows": [card(study, may_change and study.pk in editable) for study in newest],
        "total": visible.count(),
        "may_add": user.has_perms(["studies.add_study", "datasets.add_import"]),
    }


def card(study: Any, may_edit: bool) -> dict[str, Any]:
    progress = Progress(study, study.joined_count, study.done_count)
    step = next_step(progress, may_edit=may_edit)
    others = [link for link in often_opened(study) if link not in step.links]
    return {"study": study, "next": step, "links": others}


@register.inclusion_tag("admin/desk/home/_lists.html")
def lists_of(app_list: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The admin's lists in the groups of the desk."""
    return {"groups": grouped(app_list)}


@register.inclusion_tag("admin/desk/home/_documents.html")
def documents() -> dict[str, Any]:
    """The documents that a researcher meets first."""
    return {"rows": [(address_of(name), title_of(name)) for name in list(DOCUMENTS)[:FIRST]]}


@register.inclusion_tag("admin/desk/quality/_box.html", takes_context=True)
def quality_box(context: Mapping[str, Any], participant: Participant) -> dict[str, Any]:
    """What the page of a participant shows: the flags, the decisions, and the form of the next one."""
    alone = Participant.objects.filter(pk=participant.pk)
    return {
        "participant": participant,
        "flags": flags_by_person(alone, [participant]).get(participant.pk, ()),
        "decisions": Decision.objects.filter(participant=participant),
        "may_edit": context["may_edit"],
    }
