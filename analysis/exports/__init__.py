"""A study as files: one registry of columns makes every table, its formats and the codebook.

`columns` says what there is, `tables` where the rows come from, `formats` how a value is written, `snapshot` that
all rows are of one moment, `codebook` what the columns mean, `datasheet` what the files hold and leave out, and
`archive` puts everything into one zip.
"""

from .archive import archive_chunks
from .columns import gain_columns
from .files import Selection, archive_name, gain_csv, gain_name, table_chunks, table_name
from .formats import FORMATS, cell
from .tables import TABLES

__all__ = [
    "FORMATS",
    "TABLES",
    "Selection",
    "archive_chunks",
    "archive_name",
    "cell",
    "gain_columns",
    "gain_csv",
    "gain_name",
    "table_chunks",
    "table_name",
]
