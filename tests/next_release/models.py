"""The column, in a table that gets a row with every answer."""

from django.db import models

from teaching.models import TeachingStep
from tests.next_release import BY_THE_DATABASE, BY_THE_NEXT_RELEASE

column = models.PositiveSmallIntegerField(default=BY_THE_NEXT_RELEASE, db_default=BY_THE_DATABASE)
column.contribute_to_class(TeachingStep, "next_release")
