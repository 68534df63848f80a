"""Answers and instructions become class numbers."""

from django.db import migrations, models
from django.db.models import Q


def renumber(before, after):
    def change(apps, schema_editor):
        items = apps.get_model("evaluation", "EvaluationItem").objects
        items.filter(answer=before).update(answer=after)
        items.filter(instructed_label=before).update(instructed_label=after)
        settle(schema_editor)

    return change


def settle(schema_editor):
    """Lets Postgres check what was written: it alters no table that has rows left to check."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [("studies", "0010_classes"), ("evaluation", "0002_attention_checks")]

    operations = [
        migrations.RemoveConstraint("evaluationitem", "evaluationitem_answer"),
        migrations.RemoveConstraint("evaluationitem", "attention_check_is_neither_right_nor_wrong"),
        migrations.RunPython(renumber(-1, 0), renumber(0, -1)),
        migrations.AlterField(
            "evaluationitem",
            "answer",
            models.SmallIntegerField(blank=True, help_text="The number of the class chosen.", null=True),
        ),
        migrations.AlterField(
            "evaluationitem",
            "instructed_label",
            models.SmallIntegerField(blank=True, help_text="In an attention check, the number of the class that the worker is asked to choose.", null=True),
        ),
        migrations.AddConstraint(
            "evaluationitem",
            models.CheckConstraint(
                condition=Q(("answer__isnull", True), Q(("answer__gte", 0), ("answer__lt", 20)), _connector="OR"),
                name="evaluationitem_answer",
            ),
        ),
        migrations.AddConstraint(
            "evaluationitem",
            models.CheckConstraint(
                condition=Q(
                    ("instructed_label", None),
                    Q(("instructed_label__gte", 0), ("instructed_label__lt", 20), ("is_correct", None)),
                    _connector="OR",
                ),
                name="attention_check_is_neither_right_nor_wrong",
            ),
        ),
    ]
