import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0003_first_versions")]
    operations = [
        migrations.AlterField(
            model_name="participant",
            name="version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="participants",
                to="studies.studyversion",
            ),
        ),
    ]
