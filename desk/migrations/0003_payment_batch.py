"""Payments that were recorded together share a batch; its column keeps its name."""

import studies.keys
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("desk", "0002_people")]

    operations = [
        migrations.AlterField(
            model_name="payment",
            name="act",
            field=models.CharField(
                db_column="act",
                default=studies.keys.new_key,
                help_text="Payments that were recorded together share it.",
                max_length=24,
            ),
        ),
        migrations.RenameField(model_name="payment", old_name="act", new_name="batch"),
    ]
