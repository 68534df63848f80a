"""The WSGI entry point for gunicorn."""

import os

# Before NumPy is imported: BLAS threads of several web processes would fight over the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
