"""The demo studies: species of butterfly, drawn and loaded once."""

from dataclasses import dataclass

from studies.demo_texts import consent_to, welcome_to
from studies.models import Dataset, Study
from studies.models.settings import ScoreTold


@dataclass(frozen=True)
class Demo:
    """A study that anybody can try, by the name of its collection."""

    slug: str
    title: str
    number: str


DEMOS = {
    "two": Demo("demo", "Two butterflies", "two"),
    "five": Demo("demo-five", "Five butterflies", "five"),
}


def load_demo(name: str = "two") -> Study:
    """A demo study, made on the first call and left alone ever after."""
    existing = Study.objects.filter(slug=DEMOS[name].slug).first()
    return existing or _make_demo(name)


def _make_demo(name: str) -> Study:
    # Drawing needs what no later start does: it is loaded for the first one only.
    from .collection import COLLECTIONS, make_dataset

    demo, collection = DEMOS[name], COLLECTIONS[name]
    dataset = Dataset.objects.filter(name=collection.name).first() or make_dataset(collection)
    study = Study(
        slug=demo.slug,
        title=demo.title,
        dataset=dataset,
        state=Study.State.OPEN,
        seed=collection.seed,
        welcome=welcome_to(demo.number),
        consent=consent_to(demo.number),
        # Its labels are no secret: everybody has the program that draws them.
        score_told=ScoreTold.AT_ONCE,
        completion_code="BUTTERFLY",
    )
    study.full_clean()
    study.save()
    return study
