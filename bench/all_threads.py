"""The product with all threads of a process for workers on either database, for `bench.threads` to compare with."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
