"""Migrations leave the tables usable for servers of the release before, which go on while an upgrade goes round."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

# The newest migration of each app when the rule was made. Sites have run these already, so they stay as they are.
BEFORE_THE_RULE = {
    "datasets": "0004_only_classes",
    "desk": "0004_tokens_expire",
    "evaluation": "0004_chain_of_answers",
    "memorytest": "0003_chain_of_answers",
    "rehearsal": "0003_data_set_learning_rate",
    "studies": "0024_what_the_estimates_have_shown",
    "teaching": "0005_learner_kind",
}
# Upgrades for which all servers have to stop. Whoever adds one says so in the changelog.
WITH_A_BREAK: set[tuple[str, str]] = set()

# Servers of the release before still name what these take away.
TAKE_AWAY = (
    migrations.DeleteModel, migrations.RemoveField, migrations.RenameField, migrations.RenameModel,
)  # fmt: skip


def problems_of(migration: migrations.Migration, state: ProjectState) -> Iterator[str]:
    """`state` is what the migrations before it have made; it is moved on."""
    for operation in migration.operations:
        if problem := problem_of(operation, migration.app_label, state):
            yield f"{migration}: {operation.describe()}: {problem}"
        operation.state_forwards(migration.app_label, state)


def problem_of(operation: Operation, app: str, state: ProjectState) -> str:
    if isinstance(operation, TAKE_AWAY):
        return "the release before still names it"
    if isinstance(operation, migrations.AddField) and not can_be_left_out(operation.field):
        return "give it default and db_default, or null=True (CONTRIBUTING.md, Adding a column)"
    if isinstance(operation, migrations.AlterField) and not operation.field.null:
        before = state.models[app, operation.model_name_lower].fields[operation.name]
        return "the release before still leaves it empty" if before.null else ""
    return ""


def can_be_left_out(field: models.Field) -> bool:
    """Whether the database fills a column in for servers that do not know it, and Python does for those that do."""
    return field.many_to_many or field.null or (field.has_default() and field.has_db_default())


def new_migrations(loader: MigrationLoader) -> Iterator[tuple[str, str]]:
    """Those of the project's own apps to which the rule applies."""
    for app, name in sorted(loader.disk_migrations):
        is_ours = Path(apps.get_app_config(app).path).parent == settings.BASE_DIR
        if is_ours and name > BEFORE_THE_RULE.get(app, "") and (app, name) not in WITH_A_BREAK:
            yield app, name


def test_every_new_migration_lets_the_release_before_go_on():
    loader = MigrationLoader(None)
    problems = [
        problem
        for key in new_migrations(loader)
        for problem in problems_of(
            loader.disk_migrations[key], loader.project_state(key, at_end=False)
        )
    ]
    assert not problems


def test_the_rule_applies_to_the_apps_of_the_project_and_to_what_comes_after():
    loader = MigrationLoader(None)
    assert set(BEFORE_THE_RULE.items()) <= set(loader.disk_migrations)
    loader.disk_migrations["teaching", "9999_one_more_column"] = migrations.Migration(
        "", "teaching"
    )
    assert ("teaching", "9999_one_more_column") in list(new_migrations(loader))
    assert {app for app, _ in new_migrations(loader)} <= set(BEFORE_THE_RULE)


def made(*operations: Operation) -> migrations.Migration:
    migration = migrations.Migration("0002_made", "made")
    migration.operations = list(operations)
    return migration


@pytest.fixture
def state() -> ProjectState:
    fields = [("id", models.AutoField(primary_key=True)), ("here", models.IntegerField(null=True))]
    state = ProjectState()
    migrations.CreateModel("thing", fields).state_forwards("made", state)
    return state


NUMBER = models.IntegerField


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("thing", "new", NUMBER()),
        migrations.AddField("thing", "new", NUMBER(default=1)),
        migrations.AddField("thing", "new", NUMBER(db_default=1)),
        migrations.AddField("thing", "new", models.CharField(max_length=30, blank=True)),
        migrations.AlterField("thing", "here", NUMBER(default=1, db_default=1)),
        migrations.RemoveField("thing", "here"),
        migrations.RenameField("thing", "here", "there"),
        migrations.RenameModel("thing", "object"),
        migrations.DeleteModel("thing"),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_the_release_before_could_not_work_with_is_found(operation, state):
    [problem] = problems_of(made(operation), state)
    assert "made.0002_made" in problem


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("thing", "new", NUMBER(null=True)),
        migrations.AddField("thing", "new", NUMBER(default=1, db_default=1)),
        migrations.AddField("thing", "new", models.ManyToManyField("made.thing")),
        migrations.AlterField("thing", "here", NUMBER(null=True, help_text="other words")),
        migrations.CreateModel("other", [("id", models.AutoField(primary_key=True))]),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_only_adds_is_let_through(operation, state):
    assert not list(problems_of(made(operation), state))


def test_other_words_for_a_column_that_was_never_empty_are_let_through(state):
    column = migrations.AddField("thing", "new", NUMBER())
    column.state_forwards("made", state)
    words = migrations.AlterField("thing", "new", NUMBER(help_text="other words"))
    assert not list(problems_of(made(words), state))
