"""A column in the table that every answer writes to, as an additive migration of a release makes it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("studies", "0001_initial")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE studies_participant ADD COLUMN next_release integer NOT NULL DEFAULT 0",
            "ALTER TABLE studies_participant DROP COLUMN next_release",
        )
    ]
