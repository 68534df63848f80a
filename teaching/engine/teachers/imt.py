"""IMT (Liu et al. 2017): the learner without a memory."""

from dataclasses import dataclass
from typing import ClassVar

from .jedi import JEDI


@dataclass(frozen=True, kw_only=True)
class IMT(JEDI):
    """JEDI with β = 0, whatever the β of the learner it teaches."""

    name: ClassVar[str] = "imt"
    title: ClassVar[str] = "IMT"
    description: ClassVar[str] = (
        "Iterative machine teaching: chooses as JEDI does, but for a worker who keeps nothing in memory (β = 0)."
    )
    is_reference: ClassVar[bool] = False
    length_follows_memory: ClassVar[bool] = False

    def memory(self) -> float:
        """No memory."""
        return 0.0
