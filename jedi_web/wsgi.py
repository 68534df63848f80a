"""The WSGI entry point for gunicorn."""

import os

# Before NumPy is imported: BLAS threads of several web processes would fight over the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")

from django.core.wsgi import get_wsgi_application
from django.db import connection

from jedi_web.workers_thread import Application, WorkersThread

application: Application = get_wsgi_application()
if connection.vendor == "sqlite":
    application = WorkersThread(application)
