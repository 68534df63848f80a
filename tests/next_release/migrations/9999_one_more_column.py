"""As `makemigrations` would write it."""

from django.db import migrations, models

from tests.next_release.migrations import NEWEST


class Migration(migrations.Migration):
    dependencies = [("teaching", NEWEST)]
    operations = [
        migrations.AddField(
            model_name="teachingstep",
            name="next_release",
            field=models.PositiveSmallIntegerField(default=1, db_default=0),
        )
    ]
