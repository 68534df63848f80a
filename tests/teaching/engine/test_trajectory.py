"""Whole sessions, frozen: a change in any of these numbers changes what people are shown."""

import numpy as np
import pytest

from teaching.engine import TEACHERS, LearningRate, Pool, Shown, SimulatedLearner, make_teacher
from teaching.engine.classes import concept_vector

FROZEN = {
    "jedi": (
        [8, 28, 56, 48, 51, 14, 0, 31, 49, 44, 52, 11, 56, 50, 14, 28, 9, 49, 44, 52],
        0.45504289034974904,
        [3.4423572210415228, 2.369785142592924, -0.43690907742963053, 0.49592088926234107],
    ),
    "imt": (
        [8, 28, 56, 48, 51, 14, 49, 11, 56, 22, 13, 56, 14, 59, 13, 14, 11, 13, 14, 11],
        0.5250373479345878,
        [3.2404800303080155, 2.2033980891616722, -1.5386702272060315, -0.6992832724562678],
    ),
    "eer": (
        [8, 28, 56, 48, 51, 6, 45, 27, 26, 22, 11, 49, 13, 57, 20, 0, 19, 38, 41, 42],
        0.5463863363944723,
        [4.104388543255297, 1.0927786310893457, -0.7584257997516148, 0.26957658755776354],
    ),
    "rt": (
        [8, 28, 56, 48, 51, 1, 0, 51, 37, 24, 2, 57, 35, 43, 29, 40, 43, 51, 19, 41],
        0.6302519931117334,
        [3.5208619626973525, 1.439976201088932, -1.9009250045137316, -0.08806981992529542],
    ),
    "tracked": (
        [8, 28, 56, 48, 51, 50, 26, 34, 30, 17, 58, 24, 31, 52, 38, 2, 55, 44, 15, 57],
        0.9685083816565422,
        [3.6047158165198794, 1.490243783539343, -0.3894924152739431, -0.05655811030150205],
    ),
}
# The version of each teacher's rule. A change above needs a higher one here, by which replays know earlier choices.
VERSIONS = {"jedi": 1, "imt": 1, "eer": 1, "rt": 1, "tracked": 2}


def wavy_pool():
    """Sixty examples from closed forms, so that no random stream has a part in them."""
    i = np.arange(60)[:, None]
    features = np.sin(i * [0.9, 1.7, 2.3, 0.4] + [0.1, 0.5, 0.2, 1.1])
    labels = np.where(
        features[:, 0] + 0.6 * features[:, 1] + 0.4 * np.cos(5.0 * i[:, 0]) > 0, 1, -1
    )
    return Pool(features, labels)


def session(name, *, steps=20):
    """A session as the web application runs it: a fresh generator for every step."""
    pool = wavy_pool()
    rate = LearningRate(0.5)
    learner = SimulatedLearner([0.3, -0.8, 0.2, 0.4], beta=0.75, learning_rate=rate)
    teacher = make_teacher(name, beta=0.75, learning_rate=rate)
    history = []
    for t in range(steps):
        choice = teacher.choose(pool, history, np.random.default_rng([11, 4, t]))
        x = pool.features[choice.example]
        history.append(Shown(choice.example, learner.answer(x), choice.p))
        learner.learn(x, int(pool.labels[choice.example]))
    return history, learner


@pytest.mark.parametrize("name", sorted(FROZEN))
def test_a_session_unfolds_as_it_always_has(name):
    history, learner = session(name)
    examples, last_p, concept = FROZEN[name]
    assert [step.example for step in history] == examples
    assert history[-1].p == pytest.approx(last_p, abs=1e-9)
    np.testing.assert_allclose(concept_vector(learner.concept), concept, atol=1e-9)


def test_the_frozen_sessions_are_those_of_the_present_versions():
    assert {name: teacher.version for name, teacher in TEACHERS.items()} == VERSIONS


def test_all_teachers_share_the_cold_start_of_a_generator():
    starts = {tuple(step.example for step in session(name, steps=5)[0]) for name in FROZEN}
    assert len(starts) == 1
