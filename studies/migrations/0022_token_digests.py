"""Of a link only its digest is kept. Links that people have go on working."""

import hashlib

from django.db import migrations, models

import studies.keys

BATCH = 1000


def keep_digests(apps, schema_editor):
    Participant = apps.get_model("studies", "Participant")
    rows = []
    for row in Participant.objects.only("pk", "token").iterator(BATCH):
        row.token_digest = hashlib.sha256(row.token.encode()).hexdigest()
        rows.append(row)
        if len(rows) == BATCH:
            Participant.objects.bulk_update(rows, ["token_digest"])
            rows = []
    Participant.objects.bulk_update(rows, ["token_digest"])


def make_new_links(apps, schema_editor):
    """On the way back: nobody can tell the links from their digests."""
    for row in apps.get_model("studies", "Participant").objects.only("pk").iterator(BATCH):
        row.token = studies.keys.new_token()
        row.save(update_fields=["token"])


class Migration(migrations.Migration):
    dependencies = [("studies", "0021_jedi_estimator")]

    operations = [
        migrations.AddField("participant", "token_digest", models.CharField(default="", max_length=64)),
        migrations.RunPython(keep_digests, migrations.RunPython.noop),
        migrations.AlterField(
            "participant",
            "token_digest",
            models.CharField(
                default=studies.keys.new_token,
                editable=False,
                help_text="Of the link.",
                max_length=64,
                unique=True,
            ),
        ),
        migrations.AlterField("participant", "token", models.CharField(default="", max_length=40)),
        migrations.RunPython(migrations.RunPython.noop, make_new_links),
        migrations.RemoveField("participant", "token"),
    ]
