"""Signs what is stored about participants. Participants who are there already are signed as they are now."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.migrations.recorder import MigrationRecorder

BATCH = 500


def sign_earlier_participants(apps, schema_editor):
    """Number the participants of each study, those from before the chain of answers first."""
    from studies.chain import Roster, seal_of, sign_roster, signing_keys

    Participant = apps.get_model("studies", "Participant")
    chain_migration = MigrationRecorder(schema_editor.connection).migration_qs.filter(
        app="studies", name="0019_chain_of_answers"
    )
    chain_began = chain_migration.values_list("applied", flat=True).first()
    key = signing_keys()[0]
    for study in apps.get_model("studies", "Study").objects.exclude(current_version=None):
        people = Participant.objects.filter(study=study).order_by("created_at", "pk")
        batch, joined = [], 0
        for joined, row in enumerate(people.iterator(BATCH), start=1):
            row.roster_number = joined
            row.seal = seal_of(key, row, row.position)
            batch.append(row)
            if len(batch) == BATCH:
                Participant.objects.bulk_update(batch, ["roster_number", "seal"])
                batch = []
        Participant.objects.bulk_update(batch, ["roster_number", "seal"])
        earlier = people.filter(created_at__lt=chain_began).count()
        study.roster = sign_roster(key, study.pk, Roster(joined, earlier))
        study.save(update_fields=["roster"])


class Migration(migrations.Migration):
    dependencies = [("studies", "0024_what_the_estimates_have_shown")]

    operations = [
        migrations.AddField(
            "participant",
            "roster_number",
            models.PositiveIntegerField(
                blank=True,
                editable=False,
                help_text="The number among all who ever joined the study, from 1 (studies/chain.py).",
                null=True,
            ),
        ),
        migrations.AddField(
            "participant",
            "seal",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                help_text="A keyed digest of the results (studies/chain.py).",
                max_length=90,
            ),
        ),
        migrations.AddField(
            "study",
            "roster",
            models.CharField(blank=True, db_default="", default="", editable=False, max_length=90),
        ),
        migrations.AddConstraint(
            "participant",
            models.UniqueConstraint(
                fields=("study", "roster_number"), name="one_participant_per_roster_number"
            ),
        ),
        migrations.CreateModel(
            "RemovedParticipant",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(
                        help_text="The participant's number in the roster."
                    ),
                ),
                ("removed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("digest", models.CharField(max_length=64)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="removed_participants",
                        to="studies.study",
                    ),
                ),
            ],
            options={"ordering": ["study", "number"]},
        ),
        migrations.AddConstraint(
            "removedparticipant",
            models.UniqueConstraint(fields=("study", "number"), name="one_removal_per_number"),
        ),
        migrations.RunPython(sign_earlier_participants, migrations.RunPython.noop),
    ]
