"""The role of a researcher: a group with the rights that the desk's pages ask for.

Rights say what a user may do at all; `visible_to` and `editable_by` decide with which studies. A superuser
creates accounts (Users in the admin), and every new one is a researcher unless the boxes say otherwise.
"""

from collections.abc import Iterable
from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

RESEARCHERS = "Researchers"

# App and model, and what researchers may do with their own.
RIGHTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("studies", "study"): ("view", "add", "change", "delete"),
    ("studies", "studyshare"): ("view", "add", "change", "delete"),
    ("studies", "participant"): ("view",),
    ("studies", "dataset"): ("view", "delete"),
    ("studies", "auditentry"): ("view",),
    ("datasets", "import"): ("view", "add", "delete"),
    ("desk", "accesstoken"): ("view", "add"),
}


def last_app() -> AppConfig:
    """The last app with rights to be migrated: only after it do all of the rights exist."""
    labels = {label for label, _ in RIGHTS}
    return [app for app in apps.get_app_configs() if app.label in labels][-1]


def make_researchers(using: str, **options: Any) -> None:
    """Creates the group after every migration. Rights that a superuser added are kept."""
    group, _ = Group.objects.using(using).get_or_create(name=RESEARCHERS)
    group.permissions.add(*_permissions(using))


def _permissions(using: str) -> Iterable[Permission]:
    wanted = Q()
    for (label, model), actions in RIGHTS.items():
        names = [f"{action}_{model}" for action in actions]
        wanted |= Q(content_type__app_label=label, codename__in=names)
    return Permission.objects.using(using).filter(wanted)
