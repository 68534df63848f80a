"""IMT (Liu et al. 2017): the learner without a memory."""

from dataclasses import dataclass
from typing import ClassVar

from .jedi import JEDI


@dataclass(frozen=True, kw_only=True)
class IMT(JEDI):
    """JEDI with β = 0, whatever the β of the learner it teaches."""

    name: ClassVar[str] = "imt"

    def memory(self) -> float:
        """No memory."""
        return 0.0
