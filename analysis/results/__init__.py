"""The results of a study: its numbers by a handful of queries, then statistics, figures and the files behind them.

`numbers` asks the database, `analysis` compares, `figures` draws with the table behind each drawing, `words` writes
numbers, and `page` puts everything together. Loading this takes a second: only who shows results should.
"""

from .analysis import Analysis, analyse
from .figures import FIGURES, FORMS, StudyFigure
from .numbers import Numbers, Person, gather
from .page import WHAT_GAIN_REWARDS, results_page

__all__ = [
    "FIGURES",
    "FORMS",
    "WHAT_GAIN_REWARDS",
    "Analysis",
    "Numbers",
    "Person",
    "StudyFigure",
    "analyse",
    "gather",
    "results_page",
]
