"""A study as files: one registry of columns makes every table, its formats and the codebook.

`people_columns` and `task_columns` declare columns, `tables` queries rows, `formats` writes values as CSV or JSON,
`datasheet` describes an export, and `files` streams it from one database snapshot.
"""
