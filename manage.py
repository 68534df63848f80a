#!/usr/bin/env python
"""Django's command line."""

import os
import sys


def main() -> None:
    # Several processes share the cores: more BLAS threads would only compete with them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError as error:
        raise SystemExit("Django is not installed here. Run: make run") from error
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A traceback would hide the remedy.
        sys.exit(str(error))


if __name__ == "__main__":
    main()
