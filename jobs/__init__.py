"""Background work: the worker, its heartbeat and lease, and recovery of what a dead worker left."""
