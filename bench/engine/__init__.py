"""How fast the engine chooses, against a textbook baseline in the same run.

    python -m bench.engine                     every size
    python -m bench.engine --sizes 220 1000    some of them
    python -m bench.engine --sizes             none: what more classes cost beside two

Each size runs in a process of its own, so that its peak memory is its own. The pool is saved and
loaded first, as a web process has it, and every step gets the whole history, as a stateless
process does. A step is timed a few times and the fastest counts: whatever else a machine does, and
whatever its neighbours on the same hardware do, only ever lengthens a time. Times are aims; ratios,
growth, memory and exactness are bars, and the exit status says whether they hold.
"""

import os

# One BLAS thread, as in a web process; NumPy reads this once, when it is imported.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
