"""The page that Prometheus reads."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from .requests import totals
from .site import SiteCollector


# A stranger learns nothing by any method, not even that there is something to post to.
@csrf_exempt
def metrics(request: HttpRequest) -> HttpResponse:
    expected = f"Bearer {settings.JEDI_METRICS_TOKEN}"
    if not constant_time_compare(request.headers.get("Authorization", ""), expected):
        raise Http404
    content = generate_latest(totals()) + generate_latest(SiteCollector())
    return HttpResponse(content, content_type=CONTENT_TYPE_LATEST)
