"""The tests. One thread for linear algebra, as in the product: set before anything imports NumPy."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
