"""The pages of a worker: the entry, the session's shell, and the images of a session."""

import sys
from collections.abc import Callable

from csp.decorators import csp_replace, csp_update
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_safe

from . import request_ids, services, sessions, stages
from .errors import UNPREPARED, SessionError, is_unprepared, outage_of
from .events import try_to_note_server_error
from .images import SMALLEST
from .models import Participant, Study
from .recruitment import Recruitment
from .worker_page import offer_of, pictures_of

A_YEAR = 31_536_000

View = Callable[..., HttpResponseBase]


def framable(view: View) -> View:
    """Lets the sites that the deployment names show this page inside their own, as Mechanical Turk does; nobody, if it
    names none."""
    if not settings.JEDI_FRAME_ANCESTORS:
        return view
    allowed: View = csp_replace({"frame-ancestors": settings.JEDI_FRAME_ANCESTORS})(view)
    # The older header knows no list of sites; the policy above replaces it.
    return xframe_options_exempt(allowed)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html")


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """For a container's health check: the process answers and the database can be read."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM studies_study LIMIT 1")
    except DatabaseError as error:
        if not is_unprepared(error):
            raise
        return HttpResponse(f"{UNPREPARED}\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")


def server_error(request: HttpRequest) -> HttpResponse:
    """The number finds the line in the log. What passes by itself has a sentence of its own."""
    error = sys.exception()
    outage = outage_of(error)
    place = request.resolver_match
    if place and (outage is None or outage.is_noted):
        try_to_note_server_error(place.kwargs.get("token", ""), error, str(place.url_name))
    context = {"number": request_ids.current(), "outage": outage}
    response = render(request, "500.html", context, status=503 if outage else 500)
    if outage:
        response["Retry-After"] = str(outage.retry_after)
    return response


# A page framed by another site has no cookies here, so the form carries no secret of one. None is
# needed: joining a study is open to everybody and acts for nobody.
@csrf_exempt
@framable
@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: HttpRequest, slug: str) -> HttpResponse:
    """The study's public link. Looking creates nothing; pressing the button joins or resumes."""
    study = get_object_or_404(Study, slug=slug)
    recruitment = Recruitment.from_parameters(request.GET.dict()).invited(
        study, request.GET.get("invitation", "")
    )
    existing = _existing(request, study, recruitment)
    if request.method == "POST":
        try:
            participant = _take_part(study, recruitment, existing)
        except SessionError:
            # The page says kindly what the matter is.
            pass
        else:
            return _to_session(study, participant)
    context = {
        "study": study,
        "minutes": study.minutes,
        "offer": offer_of(study),
        "pictures": pictures_of(study),
        "code": existing.code if existing else "",
        "door": _door(study, recruitment, existing),
        "session_url": existing.get_absolute_url() if existing and existing.is_token_kept else "",
        "is_preview": recruitment.purpose == Participant.Purpose.PREVIEW,
    }
    return render(request, "worker/entry.html", context)


def _take_part(study: Study, recruitment: Recruitment, existing: Participant | None) -> Participant:
    if existing:
        return services.resume(existing, recruitment)
    return services.join(study=study, recruitment=recruitment)[0]


def _existing(request: HttpRequest, study: Study, recruitment: Recruitment) -> Participant | None:
    """The session that this visitor already has: by external id, or by the cookie of an anonymous one."""
    if recruitment.recruiter:
        return recruitment.find(study)
    token = request.COOKIES.get(_cookie_name(study), "")
    if not token:
        return None
    own = study.participants.with_token(token).filter(recruiter="")
    found = own.filter(purpose=recruitment.purpose_in(study)).first()
    return found and found.with_link(token)


def _door(study: Study, recruitment: Recruitment, existing: Participant | None) -> str:
    if existing:
        if existing.has_expired:
            return "expired"
        return "resume" if existing.is_under_way else existing.stage
    if recruitment.is_preview:
        return "preview"
    if recruitment.purpose:
        return "start"
    if study.state not in Study.TAKES_PART:
        return study.state
    is_full = study.state == Study.State.OPEN and study.is_full()
    return "full" if is_full else "start"


def _to_session(study: Study, participant: Participant) -> HttpResponse:
    response = HttpResponseRedirect(participant.get_absolute_url())
    if not participant.recruiter:
        response.set_cookie(
            _cookie_name(study),
            participant.token,
            max_age=A_YEAR,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response


def _cookie_name(study: Study) -> str:
    return f"jedi_session_{study.pk}"


# It repeats nothing of the request, so its compressed length tells nobody the secret in its address. The entry does
# repeat its address, and is not compressed.
@framable
@gzip_page
@require_safe
def session(request: HttpRequest, token: str) -> HttpResponseBase:
    """The shell of the worker's page; everything else comes through the API."""
    rows = Participant.objects.select_related("study").with_token(token)
    participant = get_object_or_404(rows).with_link(token)
    # The last page hands the finished task to whom the worker came from, and to nobody else.
    policy = {"form-action": [participant.submit_to]} if participant.submit_to else {}
    show: View = _show_session
    allowed: View = csp_update(policy)(show)
    return allowed(request, participant)


def _show_session(request: HttpRequest, participant: Participant) -> HttpResponse:
    context = {
        "study": participant.study,
        "code": participant.code,
        "api_url": reverse("api-session", args=[participant.token]),
        "stages": stages.flow(),
        "is_preview": participant.purpose == Participant.Purpose.PREVIEW,
    }
    return render(request, "worker/session.html", context)


@require_safe
def image(request: HttpRequest, token: str, key: str) -> HttpResponse:
    """An image that was assigned to this participant; anything else does not exist."""
    participant = sessions.find(token)
    # The current stage first: most images belong to it.
    nearest_first = sorted(stages.flow(), key=lambda stage: stage.name != participant.stage)
    for stage in nearest_first:
        if picture := stage.picture(participant, key, _side(request)):
            content = picture.content
            data = content if isinstance(content, bytes) else content.read_bytes()
            response = HttpResponse(data, content_type=picture.content_type)
            response["Cache-Control"] = f"private, max-age={A_YEAR}, immutable"
            return response
    raise Http404


def _side(request: HttpRequest) -> int:
    """How many pixels the longest side needs, as the page measured; a side that is none gets the smallest image."""
    asked = request.GET.get("side", "")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else SMALLEST
