"""Numbers for people, in templates."""

from django import template

from analysis.charts import words

register = template.Library()
register.filter("percent", words.share)
