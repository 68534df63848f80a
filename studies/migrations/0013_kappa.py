from django.db import migrations, models
from django.db.models import Count, F


def fill_in(apps, schema_editor):
    """Every finished test had equally many images of each class, so the mean of the recalls is the accuracy."""
    people = apps.get_model("studies", "Participant").objects.exclude(evaluation_accuracy=None)
    datasets = apps.get_model("studies", "Dataset").objects.annotate(k=Count("classes"))
    for k in set(datasets.values_list("k", flat=True)):
        people.filter(study__dataset__in=datasets.filter(k=k).values("pk")).update(
            evaluation_macro_recall=F("evaluation_accuracy"),
            evaluation_kappa=(k * F("evaluation_accuracy") - 1) / (k - 1),
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
