"""The results of a study: its numbers by a handful of queries, then statistics, figures and the files behind them.

`numbers` asks the database, `analysis` compares, `figures` draws with the table behind each drawing, and `page` puts
everything into words. Loading it takes a second: only what shows results should.
"""
