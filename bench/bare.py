"""A Django view that does nothing: what any request costs here, to compare with. Served by `bench.servers`.

Its address is one of a worker's, so that the server answers it as it answers workers.
"""

from typing import Any

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path


def nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse("{}", content_type="application/json")


urlpatterns = [path("healthz", nothing)]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], SECRET_KEY="none")
django.setup()
application: Any = get_wsgi_application()
