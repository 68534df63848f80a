"""The two columns of a data set become rows: class 0 is the former −1, class 1 the former +1."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

COLOURS = ("#d9792f", "#5b86d6")
# The parts of a data set's insight that name the class of an example.
LISTED = ("hardest", "ambiguous")


def name_classes(apps, schema_editor):
    Dataset = apps.get_model("studies", "Dataset")
    ImageClass = apps.get_model("studies", "ImageClass")
    for dataset in Dataset.objects.iterator():
        names = dataset.negative_class, dataset.positive_class
        ImageClass.objects.bulk_create(
            ImageClass(dataset=dataset, index=index, name=name, display_name=name, colour=colour)
            for index, (name, colour) in enumerate(zip(names, COLOURS))
        )
        renumber(dataset, {-1: 0, 1: 1})
    apps.get_model("studies", "Example").objects.filter(label=-1).update(label=0)
    settle(schema_editor)


def name_columns(apps, schema_editor):
    Dataset = apps.get_model("studies", "Dataset")
    for dataset in Dataset.objects.prefetch_related("classes"):
        names = [one.display_name for one in sorted(dataset.classes.all(), key=lambda one: one.index)]
        if len(names) != 2:
            raise ValueError(
                f"The data set “{dataset.name}” has {len(names)} classes, which the earlier version of this software "
                "cannot hold. Delete it, or stay with this version."
            )
        dataset.negative_class, dataset.positive_class = names
        dataset.save(update_fields=["negative_class", "positive_class"])
        renumber(dataset, {0: -1, 1: 1})
    apps.get_model("studies", "Example").objects.filter(label=0).update(label=-1)
    settle(schema_editor)


def renumber(dataset, numbers):
    insight = dataset.insight
    for row in (row for part in LISTED for row in insight.get(part, ())):
        row["label"] = numbers[row["label"]]
    if layout := insight.get("map"):
        layout["label"] = [numbers[label] for label in layout["label"]]
    dataset.save(update_fields=["insight"])


def settle(schema_editor):
    """Lets Postgres check what was written: it alters no table that has rows left to check."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [("studies", "0009_data_set_learning_rate")]

    operations = [
        migrations.CreateModel(
            name="ImageClass",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("index", models.PositiveSmallIntegerField(help_text="Its number in the data set, from 0.")),
                ("name", models.CharField(help_text="As the imported files call it.", max_length=60)),
                ("display_name", models.CharField(help_text="What workers and researchers read. It stays as it is once anybody has joined a study of the data set.", max_length=60)),
                ("colour", models.CharField(help_text="Its mark on maps and figures.", max_length=7, validators=[django.core.validators.RegexValidator("^#[0-9a-f]{6}$", "Write a colour as # and six digits, such as #d9792f.")])),
                ("description", models.CharField(blank=True, help_text="A sentence about it. Workers read it beside the reference picture.", max_length=200)),
                ("dataset", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="classes", to="studies.dataset")),
                ("reference", models.ForeignKey(blank=True, help_text="An image of the teaching pool that shows the class well.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="studies.example", verbose_name="reference picture")),
            ],
            options={
                "verbose_name": "class",
                "verbose_name_plural": "classes",
                "ordering": ["dataset", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "index"), name="one_class_per_index"),
                    models.UniqueConstraint(fields=("dataset", "name"), name="one_class_per_name"),
                    models.UniqueConstraint(fields=("dataset", "display_name"), name="one_class_per_display_name"),
                    models.CheckConstraint(condition=Q(("index__gte", 0), ("index__lt", 20)), name="index_is_a_class_number"),
                ],
            },
        ),
        migrations.RemoveConstraint("dataset", "two_different_classes"),
        migrations.RemoveConstraint("example", "label_is_plus_or_minus_one"),
        # With a default the columns can come back before anybody knows what to write into them.
        migrations.AlterField("dataset", "negative_class", models.CharField(default="", max_length=60)),
        migrations.AlterField("dataset", "positive_class", models.CharField(default="", max_length=60)),
        migrations.RunPython(name_classes, name_columns),
        migrations.RemoveField("dataset", "negative_class"),
        migrations.RemoveField("dataset", "positive_class"),
        migrations.AlterField("example", "label", models.SmallIntegerField(help_text="The number of its class.", verbose_name="class")),
        migrations.AddConstraint(
            "example",
            models.CheckConstraint(condition=Q(("label__gte", 0), ("label__lt", 20)), name="label_is_a_class_number"),
        ),
    ]
