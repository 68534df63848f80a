"""Texts as they are kept: one kind of line end, so that the same words are the same text."""


def tidy(text: str) -> str:
    """Browsers send other line ends than files have, and both may end in blank lines."""
    return "\n".join(text.splitlines()).strip()
