"""Which kind of learner each worker's answers speak for, by the models that the Tracked teacher weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.charts import axes
from analysis.charts.axes import RIGHT, WIDTH, AxisScale
from analysis.charts.shapes import Drawing, Line, Shape, Text
from analysis.charts.tables import Table, number_columns, row_names
from analysis.charts.words import percent
from teaching.engine import Shown, Tracked
from teaching.engine.arrays import FloatArray
from teaching.engine.bank import FAMILIES

from .sessions import TaughtSession

TITLES = {family.name: family.title for family in FAMILIES}
# From here on a kind is more probable than all the others together.
CLEAR = 0.5
COUNTS = ("likeliest", "clearly")
# Of the figure: where the rows begin, how high they are, and where their marks begin.
TOP, LINE, LEFT_OF_MARKS = 34.0, 34.0, 120.0


@dataclass(frozen=True)
class Reading:
    """What tracking makes of a session: P of all classes before each answer (t, k), and of each kind in the end."""

    expected: FloatArray
    kinds: dict[str, float]

    @cached_property
    def leading(self) -> str:
        return max(self.kinds, key=self.kinds.__getitem__)

    @property
    def probability(self) -> float:
        """Of the likeliest kind: how sure one can be of it."""
        return self.kinds[self.leading]

    @property
    def is_clear(self) -> bool:
        return self.probability > CLEAR


def read(session: TaughtSession) -> Reading:
    """Follow every model through a session, whichever teacher taught it."""
    teacher = Tracked(beta=session.beta, learning_rate=session.rate)
    rows = zip(session.examples, session.answers, session.probabilities, strict=True)
    shown = [Shown(int(example), int(answer), p.tolist()) for example, answer, p in rows]
    mixture = teacher.mixture(session.pool, shown)
    return Reading(mixture.expected(), mixture.family_weights())


def kinds_table(arms: Sequence[tuple[str, Sequence[Reading]]], note: str) -> Table:
    """How many workers of each arm are most probably of each kind, and how many of them clearly are; kinds that are
    nobody's are left out."""
    everybody = [reading for _, readings in arms for reading in readings]
    groups = [*arms, *([("All", everybody)] if len(arms) > 1 else [])]
    rows = [
        [
            f"{kind}: {TITLES[kind]}",
            *(cell for _, readings in groups for cell in counts(readings, kind)),
        ]
        for kind in leading_kinds(everybody)
    ]
    totals = ["all workers", *(cell for _, readings in groups for cell in counts(readings))]
    columns = (
        row_names("The worker"),
        *(one for name, _ in groups for one in number_columns(*COUNTS, group=name)),
    )
    return Table("Kinds of learners by teacher", columns, [*rows, totals], note=note)


def leading_kinds(readings: Sequence[Reading]) -> list[str]:
    """Those that are the likeliest of somebody, in the order of the bank."""
    leading = {reading.leading for reading in readings}
    return [kind for kind in TITLES if kind in leading]


def counts(readings: Sequence[Reading], kind: str = "") -> tuple[int, int]:
    """Of how many a kind is the likeliest, and of how many of them clearly; of any kind, if none is named."""
    own = [reading for reading in readings if kind in ("", reading.leading)]
    return len(own), sum(reading.is_clear for reading in own)


def kinds_plot(title: str, arms: Sequence[tuple[str, Sequence[Reading]]]) -> Drawing:
    """A row for each kind, and every worker at the probability of the kind that is the worker's likeliest."""
    kinds = leading_kinds([reading for _, readings in arms for reading in readings])
    floor = TOP + LINE * len(kinds)
    across = AxisScale(0, 1, LEFT_OF_MARKS, WIDTH - RIGHT)
    shapes: list[Shape] = [
        *axes.bottom_axis(across, [0.0, 0.25, 0.5, 0.75, 1.0], TOP, floor, percent),
        Line(across(CLEAR), TOP, across(CLEAR), floor, "zero"),
        Text(
            (across.start + across.end) / 2,
            floor + 36,
            "probability of the kind, %",
            "label",
            "middle",
        ),
    ]
    for row, kind in enumerate(kinds):
        shapes.append(Text(8, TOP + LINE * (row + 0.5) + 4, kind, "name"))
    column = (WIDTH - LEFT_OF_MARKS - RIGHT) / max(1, len(arms))
    for place, (name, readings) in enumerate(arms):
        left = LEFT_OF_MARKS + column * place
        shapes.append(axes.mark(place, left + 6, 14, 4.5, "solid"))
        shapes.append(Text(left + 17, 18, axes.shortened(name, 9), "name"))
        shapes += arm_marks(place, readings, kinds, across)
    return Drawing(WIDTH, floor + 46, title, shapes)


def arm_marks(
    place: int, readings: Sequence[Reading], kinds: Sequence[str], across: AxisScale
) -> list[Shape]:
    size = axes.dot_size(len(readings))
    return [
        axes.mark(
            place,
            across(reading.probability),
            TOP + LINE * (kinds.index(reading.leading) + 0.5 + 0.7 * axes.jitter(order)),
            size,
            "dot",
        )
        for order, reading in enumerate(readings)
    ]
