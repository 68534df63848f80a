"""What the software wrote while a data set had two columns for its classes and labels were −1 and +1."""

from typing import Any

import numpy as np
from django.utils import timezone

from studies.models import Participant, Study
from studies.models.versions import configuration_hash
from teaching.engine import LearningRate, Pool, Shown, make_teacher
from tests.builders import SHORT, jpeg

BEFORE = [
    ("studies", "0009_data_set_learning_rate"),
    ("teaching", "0001_initial"),
    ("evaluation", "0002_attention_checks"),
]
STEPS, ANSWERED, ITEMS = 8, 5, 6
SETTINGS = SHORT | {"short_steps": STEPS, "learning_rate": 0.1, "attention_checks": 1}
INSIGHT = {
    "map": {"label": [-1, 1], "pool_index": [0, 1], "x": [0.0, 1.0], "y": [0.0, 1.0]},
    "hardest": [{"pool_index": 0, "label": -1, "probability": 0.9}],
    "ambiguous": [{"pool_index": 1, "label": 1, "probability": 0.5}],
}


class OldSoftware:
    """Writes a study with its people through the models of that time; `apps` has them."""

    def __init__(self, apps: Any) -> None:
        self.apps = apps
        self.rng = np.random.default_rng(3)
        self.labels = self.rng.permutation(np.tile([-1, 1], 10)).tolist()
        features = np.array(self.labels)[:, None] + self.rng.standard_normal((20, 2))
        self.pool = Pool(features, self.labels)
        self.dataset = self.rows("studies.Dataset").create(
            name="Cats", negative_class="wild", positive_class="domestic", learning_rate=0.1, insight=INSIGHT
        )  # fmt: skip
        self.examples = [self.example("teaching", row) for row in range(20)]
        self.unseen = [self.example("evaluation", row) for row in range(10)]
        self.pool.save(
            Study(dataset_id=self.dataset.pk, dataset=self.today()).dataset.folder / "pool"
        )
        self.study = self.make_study()

    def rows(self, name: str) -> Any:
        return self.apps.get_model(name).objects

    def today(self) -> Any:
        """The data set as a row of today's model, for what has not changed: where its files are."""
        return Study._meta.get_field("dataset").related_model(
            pk=self.dataset.pk, key=self.dataset.key
        )

    def example(self, split: str, row: int) -> Any:
        label = self.labels[row] if split == "teaching" else 1 - 2 * (row % 2)
        index = row if split == "teaching" else None
        example = self.rows("studies.Example").create(
            dataset=self.dataset, split=split, pool_index=index, label=label
        )
        path = self.today().image_path(example)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg())
        return example

    def make_study(self) -> Any:
        study = self.rows("studies.Study").create(
            title="Old", slug="old", dataset=self.dataset, state="open", consent="Yes?", seed=11, arms="jedi",
            **SETTINGS,
        )  # fmt: skip
        # Those that came later are unknown to the study of that time.
        known = [name for name in Study.CONFIGURATION if hasattr(study, name)]
        values = {name: getattr(study, name) for name in known}
        dataset = {"key": self.dataset.key, "name": "Cats", "version": 1}
        configuration = values | {"dataset": dataset}
        study.current_version = self.rows("studies.StudyVersion").create(
            study=study,
            number=1,
            configuration=configuration,
            hash=configuration_hash(configuration),
        )
        study.save()
        return study

    def participant(self, stage: str, seed: int, **fields: Any) -> Any:
        now = timezone.now()
        return self.rows("studies.Participant").create(
            study=self.study, version=self.study.current_version, stage=stage, seed=seed, arm="jedi", ticket=seed,
            beta=0.75, memory_span=4.0, memory_lengths=[4, 4], teaching_steps=STEPS, consented_at=now,
            teaching_started_at=now, **fields,
        )  # fmt: skip

    def taught(self, seed: int) -> Any:
        """Somebody in the middle of teaching, the next image open."""
        person = self.participant("teaching", seed, position=ANSWERED + 1)
        self.teach(person, ANSWERED)
        return person

    def tested(self, seed: int) -> Any:
        """Somebody in the middle of the evaluation; its second image is an attention check."""
        person = self.participant(
            "evaluation", seed, position=STEPS + 3, evaluation_started_at=timezone.now()
        )
        self.teach(person, STEPS)
        for item, example in enumerate(self.unseen[: ITEMS + 1], start=1):
            check = {"instructed_label": -1} if item == 2 else {}
            answer = {1: example.label, 2: -1}.get(item)
            self.rows("evaluation.EvaluationItem").create(
                participant=person, position=STEPS + item, item=item, example=example, answer=answer,
                is_correct=True if item == 1 else None, answered_at=answer and timezone.now(), **check,
            )  # fmt: skip
        return person

    def teach(self, person: Any, answers: int) -> None:
        """Wrong at every third image."""
        teacher = make_teacher(
            "jedi", beta=0.75, learning_rate=LearningRate(0.1, 20.0), repeat_window=None, cold_start=3
        )  # fmt: skip
        drawn_for = Participant(seed=person.seed, study=Study(seed=11))
        drawn_for.study_as_joined = drawn_for.study
        history: list[Shown] = []
        for step in range(1, min(answers + 1, STEPS) + 1):
            choice = teacher.choose(self.pool, history, drawn_for.generator("teaching", step))
            label = self.labels[choice.example]
            answer = (label if step % 3 else -label) if step <= answers else None
            self.rows("teaching.TeachingStep").create(
                participant=person, position=step, step=step, example=self.examples[choice.example],
                is_random=choice.is_cold_start, answer=answer, is_correct=answer and answer == label,
                is_first_showing=choice.example not in [past.example for past in history],
                p=choice.p, f=choice.f, score=choice.score, diversity=choice.diversity,
                usefulness=choice.usefulness, learning_rate=choice.learning_rate, choice_ms=1.0,
                answered_at=answer and timezone.now(),
            )  # fmt: skip
            if answer:
                history.append(Shown(choice.example, answer, choice.p))
