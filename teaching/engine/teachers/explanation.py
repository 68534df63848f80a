"""What a teacher says about its choice, beside p and the score, when a researcher asks why."""

from dataclasses import dataclass

# A label and a value, both as a researcher reads them.
Fact = tuple[str, str]
# A lower and an upper limit.
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The words and numbers of one judgement. A teacher that has more to say extends this class.

    text: how it chose, in sentences.
    score_name: what the score measures, as a label; smaller is better.
    baseline: a label, and the score of showing nothing at all, where there is such a number.
    """

    text: str = ""
    score_name: str = "score"
    baseline: tuple[str, float] | None = None

    def facts(self) -> list[Fact]:
        """What the teacher has found out about the learner, beside what it was given."""
        return []

    def interval(self, example: int) -> Interval | None:
        """Between which limits p of an example lies nine times out of ten, if the teacher knows."""
        return None
