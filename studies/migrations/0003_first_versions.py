"""Gives the people who joined before there were versions the first version of their study."""

import hashlib
import json

from django.db import migrations

CONFIGURATION = (
    "seed", "welcome", "consent", "minutes", "shows_score", "on_withdrawal",
    "memory_trials", "memory_min_length", "memory_max_length", "memory_extra_seconds", "memory_practice",
    "arms", "assignment", "cold_start", "short_steps", "medium_steps", "long_steps",
    "short_memory_up_to", "medium_memory_up_to", "other_steps", "learning_rate", "learning_rate_decay",
    "repeat_window", "min_look_ms", "evaluation_size", "attention_checks",
)  # fmt: skip


def configuration_of(study):
    dataset = study.dataset
    return {
        "dataset": {"key": dataset.key, "name": dataset.name, "version": dataset.version},
        **{name: getattr(study, name) for name in CONFIGURATION},
    }


def freeze(apps, schema_editor):
    Study = apps.get_model("studies", "Study")
    StudyVersion = apps.get_model("studies", "StudyVersion")
    for study in Study.objects.filter(participants__isnull=False).distinct():
        configuration = configuration_of(study)
        text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        study.current_version = StudyVersion.objects.create(
            study=study, number=1, configuration=configuration, hash=digest
        )
        study.save(update_fields=["current_version"])
        study.participants.update(version=study.current_version)


class Migration(migrations.Migration):
    dependencies = [("studies", "0002_desk")]
    operations = [migrations.RunPython(freeze, migrations.RunPython.noop, elidable=True)]
