"""What is left of memories, against powers written out."""

import numpy as np
import pytest

from teaching.engine.bank.fading import all_left_before, left_before


@pytest.mark.parametrize("t", [0, 1, 6])
def test_a_memory_fades_by_the_same_share_at_every_step(t):
    decays = (1.0, 0.8, 0.0)
    expected = np.zeros((3, t + 1, t))
    for place, decay in enumerate(decays):
        for step in range(t + 1):
            for earlier in range(step):
                expected[place, step, earlier] = decay ** (step - 1 - earlier)
    np.testing.assert_allclose(left_before(t, *decays), expected)
    np.testing.assert_allclose(all_left_before(t, *decays), expected.sum(axis=-1))
