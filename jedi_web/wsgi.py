"""The WSGI entry point for gunicorn."""

import os
import sys
from importlib import import_module

# Before NumPy is imported: BLAS threads of several web processes would fight over the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

try:
    application = get_wsgi_application()
    # Load the engine before the fork, not while the first participant waits.
    import_module("studies.stages").flow()
except ImproperlyConfigured as error:
    # A traceback would hide the remedy.
    sys.exit(str(error))
