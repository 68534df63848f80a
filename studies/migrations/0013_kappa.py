from django.db import migrations, models
from django.db.models import F


def fill_in(apps, schema_editor):
    """Every data set so far has two classes, and every finished test had equally many images of each."""
    people = apps.get_model("studies", "Participant").objects.exclude(evaluation_accuracy=None)
    people.update(
        evaluation_macro_recall=F("evaluation_accuracy"),
        evaluation_kappa=2 * F("evaluation_accuracy") - 1,
    )


class Migration(migrations.Migration):
    dependencies = [("studies", "0012_reference_pictures")]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="evaluation_kappa",
            field=models.FloatField(blank=True, null=True, verbose_name="κ"),
        ),
        migrations.AddField(
            model_name="participant",
            name="evaluation_macro_recall",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.RunPython(fill_in, migrations.RunPython.noop),
    ]
