"""Which kind of learner each worker's answers speak for, by the models that the Tracked teacher weighs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.charts.tables import Table, number_columns, row_names
from teaching.engine import Shown, Tracked
from teaching.engine.arrays import FloatArray
from teaching.engine.bank import FAMILIES

from .sessions import TaughtSession

TITLES = {family.name: family.title for family in FAMILIES}
# A kind that is less probable than this does not stand out from the others.
STANDS_OUT = 0.5
UNCLEAR = "no kind above one half"


@dataclass(frozen=True)
class Reading:
    """What tracking makes of a session: P of all classes before each answer (t, k), and of each kind in the end."""

    expected: FloatArray
    kinds: dict[str, float]

    @cached_property
    def leading(self) -> str:
        return max(self.kinds, key=self.kinds.__getitem__)

    @property
    def stands_out(self) -> bool:
        return self.kinds[self.leading] >= STANDS_OUT


def read(session: TaughtSession) -> Reading:
    """Follow every model through a session, whichever teacher taught it."""
    teacher = Tracked(beta=session.beta, learning_rate=session.rate)
    rows = zip(session.examples, session.answers, session.probabilities, strict=True)
    shown = [Shown(int(example), int(answer), p.tolist()) for example, answer, p in rows]
    mixture = teacher.mixture(session.pool, shown)
    return Reading(mixture.expected(), mixture.family_weights())


def kinds_table(arms: Sequence[tuple[str, Sequence[Reading]]], note: str) -> Table:
    """How many workers of each arm are most probably of each kind; kinds that nobody is are left out."""
    counts = [Counter(_named(one) for one in readings) for _, readings in arms]
    total = sum(counts, Counter())
    kinds = [name for name in (*TITLES, UNCLEAR) if total[name]]
    rows = [[_title(kind), *(own[kind] for own in counts), total[kind]] for kind in kinds]
    columns = (row_names("The worker"), *number_columns(*(name for name, _ in arms), "All"))
    return Table("Kinds of learners by teacher", columns, rows, note=note)


def _named(reading: Reading) -> str:
    return reading.leading if reading.stands_out else UNCLEAR


def _title(kind: str) -> str:
    return TITLES.get(kind, kind)
