"""The results of a study: its data by a handful of queries, then statistics, figures and files.

`data` queries, `figures` draws, `decay` summarises the fitted memory decay, and `page` compares the arms and prepares
everything for the template. Importing them takes a second, so only pages of results should.
"""
