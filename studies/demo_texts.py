"""What the demo studies say to workers: here, so that a study that says the same can be told."""

_WELCOME = """Learn to tell {number} species of butterfly apart.

First comes a short memory game, then you learn from examples, and at the end a test shows how much \
you have learned. No knowledge of butterflies is needed."""

_CONSENT = """This is a demonstration study. You will restore the order of small pictures, then learn to \
tell {number} invented species of butterfly apart, then classify 100 pictures without being told whether you \
are right.

Your answers and response times are stored under a random code. No name, address or other personal \
detail is asked for or kept. You can stop at any time by closing the page; for a day, the same link \
brings you back to where you were.

If you agree to take part, go on. If you do not, no answers are kept."""


def welcome_to(number: str) -> str:
    """The first page of a study of so many species, in words."""
    return _WELCOME.format(number=number)


def consent_to(number: str) -> str:
    return _CONSENT.format(number=number)


CONSENTS = tuple(consent_to(number) for number in ("two", "five"))
