"""The first researcher gets in by a one-time link: there is no default password to forget to change."""

from django.contrib.auth.models import User

from desk.access.roles import password_link

FIRST_NAME = "researcher"


def first_password_link() -> tuple[str, str] | None:
    """The first superuser's name and a link that sets the password once; None if a superuser can sign in already."""
    users = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if any(user.has_usable_password() for user in users):
        return None
    user = users.first() or User.objects.create_superuser(FIRST_NAME, password=None)
    return user.get_username(), password_link(user)
