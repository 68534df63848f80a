"""The box of downloads on a study's page."""

from typing import Any

from django import template

from evaluation.exports import FORMATS, TABLES
from studies.models import Study

register = template.Library()


@register.inclusion_tag("admin/evaluation/downloads.html")
def downloads(study: Study) -> dict[str, Any]:
    return {"study": study, "tables": TABLES.values(), "formats": FORMATS.values()}
