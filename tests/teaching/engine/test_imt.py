"""IMT: JEDI without a memory."""

import numpy as np

from teaching.engine import LearningRate, make_teacher
from tests.teaching.engine.builders import make_pool, random_history

RATE = LearningRate(0.7, 20)


def test_imt_is_jedi_with_beta_zero_whatever_the_learners_beta():
    pool = make_pool(30, 5)
    for seed in range(5):
        history = random_history(30, 12, seed=seed)
        imt = make_teacher("imt", beta=0.9, learning_rate=RATE)
        jedi = make_teacher("jedi", beta=0.0, learning_rate=RATE)
        np.testing.assert_array_equal(imt.scores(pool, history), jedi.scores(pool, history))


def test_imt_leaves_out_the_last_two():
    pool = make_pool(30, 5)
    history = random_history(30, 12, distinct=True)
    left_out = np.isinf(make_teacher("imt", beta=0.9).scores(pool, history))
    assert set(np.flatnonzero(left_out)) == {history[-1].example, history[-2].example}


def test_a_window_of_zero_is_the_papers_plain_argmin():
    pool = make_pool(30, 5)
    history = random_history(30, 12)
    assert np.isfinite(make_teacher("imt", repeat_window=0).scores(pool, history)).all()
