"""gunicorn's configuration for the view that does nothing: the product's own, without what the product loads."""

from jedi_web.gunicorn_conf import (
    bind,
    control_socket_disable,
    preload_app,
    threads,
    worker_class,
    worker_tmp_dir,
    workers,
)

__all__ = [
    "bind",
    "control_socket_disable",
    "preload_app",
    "threads",
    "worker_class",
    "worker_tmp_dir",
    "workers",
]
