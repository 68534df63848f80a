"""Which other sites may show a worker's page inside their own, as Mechanical Turk does."""

from collections.abc import Callable

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpResponseBase
from django.views.decorators.clickjacking import xframe_options_exempt

View = Callable[..., HttpResponseBase]


def framable(view: View) -> View:
    """Lets the sites that the deployment names frame this page; nobody, if it names none."""
    if not settings.JEDI_FRAME_ANCESTORS:
        return view
    allowed: View = csp_update({"frame-ancestors": settings.JEDI_FRAME_ANCESTORS})(view)
    # The older header knows no list of sites; the policy above replaces it.
    return xframe_options_exempt(allowed)
