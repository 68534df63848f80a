"""Researchers of every kind, and their browsers."""

from django.contrib.auth.models import Group, User
from django.test import Client

from desk.access.roles import RESEARCHERS
from studies.models import Study, StudyShare


def make_researcher(name: str = "ada") -> User:
    """As a superuser makes them: of the staff, with the rights of the group and no others."""
    user = User.objects.create_user(name, is_staff=True)
    user.groups.add(Group.objects.get(name=RESEARCHERS))
    return user


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def share(study: Study, user: User, *, can_edit: bool = False) -> User:
    StudyShare.objects.create(study=study, user=user, can_edit=can_edit)
    return user
