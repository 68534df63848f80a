"""The next release of the software, as far as an upgrade is concerned: a column that this one knows nothing of."""

# The two defaults of the column differ here, so that a row tells which release inserted it.
BY_THE_DATABASE, BY_THE_NEXT_RELEASE = 0, 1
