"""What management commands share."""

from django.core.management.base import CommandError

from studies.models import Study


def study_named(slug: str) -> Study:
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        names = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no study {slug!r}. Studies: {names}.")
    return study
