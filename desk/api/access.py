"""Who calls the researchers' API, how often, and which studies are theirs."""

from __future__ import annotations

from typing import Any, NoReturn

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

from desk.base.pages import may_edit, visible_study
from desk.models import AccessToken
from studies.api.throttling import CacheTolerantThrottle
from studies.api.views import JsonView
from studies.models import Study

HOW = "Send “Authorization: Bearer …” with an access token. You can create one in the admin, under Access tokens."


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer jedi_…`: acts for the researcher who made the token."""

    def authenticate(self, request: Request) -> tuple[User, AccessToken] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = AccessToken.objects.for_secret(secret.strip()).first()
        if token is None:
            raise exceptions.AuthenticationFailed(
                f"This token is unknown, expired or revoked. {HOW}"
            )
        token.touch()
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="JEDI Web"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """What the published schema says about it."""

    target_class = TokenAuthentication
    name = "access token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": HOW}


class ResearcherThrottle(CacheTolerantThrottle, UserRateThrottle):
    scope = "researchers"


class ResearcherView(JsonView):
    """A call of the researchers' API."""

    authentication_classes = [TokenAuthentication]
    permission_classes = [IsAuthenticated]
    throttle_classes = [ResearcherThrottle]

    def permission_denied(
        self, request: Request, message: str | None = None, code: str | None = None
    ) -> NoReturn:
        raise exceptions.NotAuthenticated(f"This call needs an access token. {HOW}")

    def study(self, slug: str, *, edits: bool = False) -> Study:
        """The study, for those who may see it; for others it does not exist. Editing takes the right to change it."""
        study = visible_study(self.request.user, slug=slug)
        if edits and not may_edit(self.request._request, study):
            raise exceptions.PermissionDenied("This study is shared with you for reading only.")
        return study
