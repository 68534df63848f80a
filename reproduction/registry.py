"""The experiments by name."""

from .estimators import Estimators
from .experiment import Experiment
from .humans import Humans
from .synthetic import Synthetic
from .toy import Toy

EXPERIMENTS: dict[str, type[Experiment]] = {
    experiment.name: experiment for experiment in (Toy, Synthetic, Humans, Estimators)
}
