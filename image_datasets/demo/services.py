"""Loads the demo studies."""

from dataclasses import dataclass
from pathlib import Path

from studies.demo_texts import consent_to, welcome_to
from studies.models import Dataset, Study
from studies.models.settings import ScoreTold


@dataclass(frozen=True)
class Demo:
    """A study that anybody can try, and its data set."""

    slug: str
    title: str
    dataset: str
    classes: tuple[str, ...]
    seed: int


# By the number of species in words, which is also the name of the pack.
DEMOS = {
    "two": Demo("demo", "Two butterflies", "Butterflies", ("Varnel", "Osmery"), seed=58),
    "five": Demo(
        "demo-five",
        "Five butterflies",
        "Five butterflies",
        ("Ambrin", "Delmot", "Hestry", "Jorvel", "Quillon"),
        seed=5,
    ),
}


def load_demo(number: str = "two") -> Study:
    """Return the demo study with this number of species. Create it and its data set if they do not exist."""
    demo = DEMOS[number]
    if existing := Study.objects.filter(slug=demo.slug).first():
        return existing
    dataset = Dataset.objects.filter(name=demo.dataset).first()
    if dataset is None:
        # NumPy and Pillow are imported for the first start only.
        from .packs import make_dataset

        pack = Path(__file__).with_name(f"{number}.zip")
        dataset = make_dataset(pack, name=demo.dataset, classes=demo.classes, seed=demo.seed)
    study = Study(
        slug=demo.slug,
        title=demo.title,
        dataset=dataset,
        state=Study.State.OPEN,
        seed=demo.seed,
        welcome=welcome_to(number),
        consent=consent_to(number),
        # The labels are no secret: they are in the repository.
        score_told=ScoreTold.AT_ONCE,
        completion_code="BUTTERFLY",
    )
    study.full_clean()
    study.save()
    return study
