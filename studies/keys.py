"""Random identifiers: tokens, keys, participant codes and seeds."""

import base64
import hashlib
import hmac
import secrets
from functools import lru_cache

from django.conf import settings

# No vowels and no look-alikes: codes spell no words and can be dictated.
CODE_ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"


def new_token() -> str:
    """A secret that is stored in plain text, because it is needed again."""
    return secrets.token_urlsafe(24)


def session_tokens(name: str) -> list[str]:
    """The tokens of one participant's link, by the server's key and its earlier keys. They are derived from the key and
    a random name, so a copy of the database contains none of them."""
    secret_keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [_session_token(key_for("session link", key), name) for key in secret_keys]


def _session_token(key: bytes, name: str) -> str:
    return base64.urlsafe_b64encode(hmac.digest(key, name.encode(), "sha256")[:24]).decode()


@lru_cache(maxsize=16)
def key_for(purpose: str, secret: str) -> bytes:
    """Derive a key for one purpose from a secret key of the server."""
    return hashlib.sha256(f"{purpose} {secret}".encode()).digest()


def new_key() -> str:
    """An opaque name for an image or a folder."""
    return secrets.token_hex(12)


def new_code() -> str:
    """A participant's code in tables and messages."""
    letters = "".join(secrets.choice(CODE_ALPHABET) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def new_seed() -> int:
    return secrets.randbelow(2**53)
