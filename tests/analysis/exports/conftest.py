"""The study that a file of tests exports: `made_study` makes it once, and every test reads it afresh."""

import pytest

from studies.models import Study


@pytest.fixture
def study(made_study: Study, db: None) -> Study:
    return Study.objects.get(pk=made_study.pk)
