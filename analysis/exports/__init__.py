"""A study as files: one registry of columns makes every table, its formats and the codebook.

`people_columns` and `task_columns` say what there is, `tables` where the rows come from, `formats` how a value is
written, `snapshot` that all rows are of one moment, `codebook` what the columns mean, `datasheet` what the files hold
and leave out, and `archive` puts everything into one zip.
"""
