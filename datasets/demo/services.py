"""The demo study: two species of butterfly, drawn and loaded once."""

from studies.demo_texts import CONSENT, WELCOME
from studies.models import Dataset, Study

SLUG = "demo"


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
