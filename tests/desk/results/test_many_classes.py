"""Results, flags and files of a study with three classes, from rows whose counts are known by heart."""

import csv
import io
import itertools

import numpy as np
import pytest
from django.utils import timezone

from analysis.results.page import results_page
from desk.quality import behaviours
from evaluation import metrics
from evaluation.models import EvaluationItem
from image_datasets.imports.creation import Draft, LabelledImage, create_dataset
from studies.models import Participant, Study, StudyVersion
from tests.builders import jpeg, make_study
from tests.people import study_address

pytestmark = pytest.mark.django_db
NAMES = ("admiral", "brimstone", "comma")


@pytest.fixture
def study() -> Study:
    labels = [0, 1, 2] * 6
    rng = np.random.default_rng(5)
    features = 2 * np.eye(3)[labels] + rng.standard_normal((len(labels), 3))
    images = [LabelledImage(jpeg(), label) for label in labels]
    dataset = create_dataset(
        Draft(
            name="Three", classes=NAMES, seed=5, teaching=images, features=features,
            evaluation=images, evaluation_features=features,
        )
    )  # fmt: skip
    return make_study(dataset=dataset, arms="rt", evaluation_size=6)


def finish(study: Study, answers: list[int]) -> Participant:
    """Somebody who gave these answers to two images of each class in turn."""
    person = Participant.objects.create(
        study=study, version=StudyVersion.freeze(study), stage="done", arm="rt",
        consented_at=timezone.now(),
    )  # fmt: skip
    images = list(study.dataset.examples.filter(split="evaluation").order_by("label", "pk"))
    shown = [
        [image for image in images if image.label == label][turn]
        for turn in (0, 1)
        for label in range(3)
    ]
    for item, (image, answer) in enumerate(zip(shown, answers, strict=True), 1):
        EvaluationItem.objects.create(
            participant=person, position=item, item=item, example=image, answer=answer,
            is_correct=answer == image.label, answered_at=timezone.now(), response_ms=900,
        )  # fmt: skip
    right = metrics.accuracy(
        [image.label == said for image, said in zip(shown, answers, strict=True)]
    )
    Participant.objects.filter(pk=person.pk).update(
        evaluation_accuracy=right, first_seen_accuracy=0.5, teaching_gain=right - 0.5,
        evaluation_kappa=metrics.kappa(right, 3),
    )  # fmt: skip
    return person


def test_results_tell_right_answers_by_class_and_what_is_beyond_guessing(researcher, study):
    for answers in ([0, 1, 2, 0, 1, 2], [0, 1, 1, 0, 2, 1]):
        finish(study, answers)
    page = results_page(study)
    assert [column.title for column in page["recalls"].columns[1:-1]] == [*NAMES]
    shares = [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in page["recalls"].rows[0]]
    assert shares == ["RT", "100.0 %", "75.0 %", "50.0 %", "75.0 %"]
    # The mean of κ = 1 and κ = (1/2 − 1/3)/(2/3) = 1/4.
    headings = [column.title for column in page["arms"].columns]
    assert page["arms"].rows[0][headings.index("κ")] == "0.62"
    rows = csv.DictReader(
        io.StringIO(
            b"".join(researcher.get(study_address(study, "results/confusion.csv"))).decode()
        )
    )
    counts = {(row["true_class"], row["answer"]): int(row["answers"]) for row in rows}
    assert set(counts) == set(itertools.product(NAMES, repeat=2))
    assert {pair: count for pair, count in counts.items() if count} == {
        ("admiral", "admiral"): 4, ("brimstone", "brimstone"): 3, ("brimstone", "comma"): 1,
        ("comma", "comma"): 2, ("comma", "brimstone"): 2,
    }  # fmt: skip


def test_flags_know_how_many_keys_there_were(study):
    person = finish(study, [0, 1, 2, 0, 1, 2])
    assert behaviours(study.participants.all())[person.pk].keys == 3
