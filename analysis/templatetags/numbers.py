"""Numbers for people, in templates."""

from django import template

from analysis.charts import formatting

register = template.Library()


@register.filter
def percent(share: float | str | None) -> str:
    """A share in per cent; a dash for what the page does not have, which a template hands on as an empty text."""
    return formatting.share(share if isinstance(share, int | float) else None)
