"""A learning rate that suits the scale of a pool."""

import numpy as np

from .errors import BadSetting
from .learners.paper import LearningRate
from .pool import Pool


def suggest_learning_rate(pool: Pool, steps: int = 30, decay: float = 20) -> float:
    """η₀ at which the way from no concept to the target is as long as `steps` full steps.

    A learner without a concept is wrong with f = ½, so its step t has length η_t‖x‖/2. If all
    steps went straight at the target they would have to add up to ‖w*‖:

        η₀ = ‖w*‖ / (½ · rms‖x‖ · Σ_t c/(c+t)).

    Far below it nobody gets anywhere within the session; far above it each example overturns
    what was learned from the others. Features should be centred first: a common offset in all
    examples lengthens steps without moving the learner towards the target.
    """
    if steps < 1:
        raise BadSetting(f"A session of {steps} steps teaches nothing; give 1 or more.")
    schedule = LearningRate(1.0, decay)
    step_length = 0.5 * float(np.sqrt(pool.squared_norms.mean()))
    path = step_length * sum(schedule(t) for t in range(1, steps + 1))
    distance = float(np.linalg.norm(pool.target))
    if not (path > 0 and distance > 0):
        # Nothing can be learned from such a pool at any rate.
        return LearningRate().initial
    return distance / path
