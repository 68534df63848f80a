"""Numbers for people."""

from django import template

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    """0.9375 as 93.8 %; a dash for what is not known."""
    return "–" if share is None else f"{100 * share:.1f}\u00a0%"
