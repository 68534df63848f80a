"""Answers become class numbers, and a step keeps the probability of every class."""

import json
from itertools import islice

from django.db import migrations, models
from django.db.models import Q

BATCH = 5000


def number_answers(apps, schema_editor):
    TeachingStep = apps.get_model("teaching", "TeachingStep")
    TeachingStep.objects.filter(answer=-1).update(answer=0)
    # Written from here and not by the database, which may round: a replay compares every bit.
    steps = iter(TeachingStep.objects.order_by("pk").values_list("pk", "p").iterator(chunk_size=BATCH))
    with schema_editor.connection.cursor() as cursor:
        while batch := list(islice(steps, BATCH)):
            cursor.executemany(
                "UPDATE teaching_teachingstep SET probabilities = %s WHERE id = %s",
                [(json.dumps([1 - p, p]), pk) for pk, p in batch],
            )
    settle(schema_editor)


def sign_answers(apps, schema_editor):
    TeachingStep = apps.get_model("teaching", "TeachingStep")
    if TeachingStep.objects.filter(p=None).exists():
        raise ValueError(
            "There are answers to studies of more than two classes, which the earlier version of this software cannot "
            "hold. Delete those studies, or stay with this version."
        )
    TeachingStep.objects.filter(answer=0).update(answer=-1)
    settle(schema_editor)


def settle(schema_editor):
    """Lets Postgres check what was written: it alters no table that has rows left to check."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [("studies", "0010_classes"), ("teaching", "0001_initial")]

    operations = [
        migrations.RemoveConstraint("teachingstep", "teachingstep_answer"),
        migrations.AddField("teachingstep", "probabilities", models.JSONField(default=list)),
        migrations.AlterField(
            "teachingstep",
            "p",
            models.FloatField(blank=True, help_text="With two classes, the second of the probabilities. Empty with more.", null=True),
        ),
        migrations.RunPython(number_answers, sign_answers),
        migrations.AlterField(
            "teachingstep",
            "answer",
            models.SmallIntegerField(blank=True, help_text="The number of the class chosen.", null=True),
        ),
        migrations.AlterField(
            "teachingstep",
            "probabilities",
            models.JSONField(help_text="The teacher's estimate, before the answer, of the probability of each answer, class 0 first."),
        ),
        migrations.AddConstraint(
            "teachingstep",
            models.CheckConstraint(
                condition=Q(("answer__isnull", True), Q(("answer__gte", 0), ("answer__lt", 20)), _connector="OR"),
                name="teachingstep_answer",
            ),
        ),
    ]
