"""Experiments with simulated learners and reports on people: the paper's, and ours beyond it.

To add an experiment:

1. Write a module with a frozen dataclass that extends `experiment.Experiment`. Its fields are its settings. `cells`
   names the conditions, `run(cell, seed)` runs one unit of work and returns a flat row of numbers, and
   `report(results)` turns all rows into sections with tables and figures.
2. Add it to `EXPERIMENTS` in `__main__.py`.

Seeds, processes, clusters, progress, checkpoints, the HTML and the CSV files are provided.
"""
