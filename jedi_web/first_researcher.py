"""The first researcher gets in by a one-time link: there is no default password to forget to change."""

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

FIRST_NAME = "researcher"


def first_password_link() -> tuple[str, str] | None:
    """The first superuser's name and a link that sets the password, once; None when somebody can sign in."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if any(user.has_usable_password() for user in users):
        return None
    user = users.first() or get_user_model().objects.create_superuser(FIRST_NAME, password=None)
    number = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("first_password", args=[number, default_token_generator.make_token(user)])
    return user.get_username(), settings.JEDI_PUBLIC_URL + path
