"""Names that say nothing: for links, files and people."""

import secrets

# No vowels and no look-alikes: a code that is read out loud is typed right and spells nothing.
CODE_ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"


def new_token() -> str:
    """The secret of one participant's link."""
    return secrets.token_urlsafe(24)


def new_key() -> str:
    """An opaque name for an image or a folder."""
    return secrets.token_hex(12)


def new_code() -> str:
    """A participant's name in tables and letters."""
    letters = "".join(secrets.choice(CODE_ALPHABET) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def new_seed() -> int:
    return secrets.randbelow(2**53)
