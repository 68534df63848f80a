"""The paper's experiments with simulated learners, run again with our engine, and ours beyond them.

`manage.py reproduce` runs toy, synthetic, humans, estimators or classes.

To add an experiment:

1. Write one file beside `toy.py` with a frozen dataclass that extends `experiment.Experiment`. Its fields are its
   settings. `cells` names the conditions, `run(cell, seed)` does one piece of work and returns a flat row of numbers,
   and `report(results)` turns all rows into sections with tables and figures.
2. Add it to `EXPERIMENTS` in the command `reproduce`.

Seeds, processes, clusters, progress, checkpoints, resuming, the HTML and the CSV files come by themselves. Nothing here
but the command and `imported.py` knows Django, so a notebook can run an experiment too; the HTML is laid out by
Django's templates, without any settings.
"""
