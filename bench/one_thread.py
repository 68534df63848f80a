"""The product with one thread of a process for workers on either database, for `bench.threads` to compare with."""

from bench.all_threads import application as answered_by_all
from jedi_web.workers_thread import WorkersThread

application = WorkersThread(answered_by_all)
