"""The demo study: two species of butterfly, drawn and loaded once."""

from studies.models import Dataset, Study

SLUG = "demo"

WELCOME = """Learn to tell two species of butterfly apart.

First comes a short memory game, then you learn from examples, and at the end a test shows how much \
you have learned. No knowledge of butterflies is needed."""

CONSENT = """This is a demonstration study. You will restore the order of small pictures, then learn to \
tell two invented species of butterfly apart, then classify 100 pictures without being told whether you \
are right.

Your answers and response times are stored under a random code. No name, address or other personal \
detail is asked for or kept. You can stop at any time by closing the page; for a day, the same link \
brings you back to where you were.

If you agree to take part, go on. If you do not, no answers are kept."""


def load_demo() -> Study:
    """The demo study, made on the first call and left alone ever after."""
    existing = Study.objects.filter(slug=SLUG).first()
    return existing or _make_demo()


def _make_demo() -> Study:
    # Drawing needs what no later start does: it is loaded for the first one only.
    from .collection import NAME, SEED, make_dataset

    dataset = Dataset.objects.filter(name=NAME).first() or make_dataset()
    study = Study(
        slug=SLUG,
        title="Two butterflies",
        dataset=dataset,
        state=Study.State.OPEN,
        seed=SEED,
        welcome=WELCOME,
        consent=CONSENT,
        completion_code="BUTTERFLY",
    )
    study.full_clean()
    study.save()
    return study
