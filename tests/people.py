"""Researchers of every kind, and their browsers."""

from django.contrib.auth.models import Group, User
from django.test import Client

from desk.sharing import RESEARCHERS
from studies.models import Study, StudyShare
from tests.markup import markup_of


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


def study_address(study: Study, page: str = "change/") -> str:
    return f"/admin/studies/study/{study.pk}/{page}"


def text_of(client: Client, path: str) -> str:
    """The markup of the page at an address, which must be there."""
    reply = client.get(path)
    assert reply.status_code == 200, path
    return markup_of(reply)
