"""The links of a study: for each recruitment platform, as a QR code, and for trying it out."""

from __future__ import annotations

import io
import secrets
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit
from xml.sax.saxutils import escape

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from desk.page import Page, study_page
from studies.models import Participant, Study
from studies.recruitment import invitation

PROLIFIC = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
TURK_SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Link:
    """A text to copy, with instructions."""

    key: str
    title: str
    text: str
    help: str
    warning: str = ""


def share(request: HttpRequest, study: Study) -> HttpResponse:
    context = {
        "links": links_to(study),
        "try_url": try_url(study),
        "is_loopback": urlsplit(study.public_url).hostname in LOOPBACK,
    }
    return study_page(request, study, "admin/desk/share.html", "Links", context)


def qr(request: HttpRequest, study: Study) -> HttpResponse:
    """The QR code of the plain link, on the page and as a file."""
    response = HttpResponse(qr_svg(study.public_url), content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-qr.svg"'
    return response


def qr_svg(text: str) -> str:
    """Black on white even on dark pages, as scanners expect. At least error correction level M."""
    # Imported here to keep the server's start fast.
    import segno

    file = io.BytesIO()
    code = segno.make_qr(text, error="m")
    colours = {"dark": "#000", "light": "#fff"}
    code.save(file, kind="svg", border=4, omitsize=True, xmldecl=False, nl=False, **colours)
    # Avoids hairlines between rows that end between two pixels.
    return file.getvalue().decode().replace("<svg ", '<svg shape-rendering="crispEdges" ', 1)


def links_to(study: Study) -> list[Link]:
    return [
        Link(
            "plain",
            "Plain link",
            study.public_url,
            "For e-mails, classes and your own lab. A cookie lets the same browser resume a session.",
        ),
        Link(
            "prolific",
            "Prolific",
            study.public_url + PROLIFIC,
            "Use it as the study's URL. Prolific fills in the brackets, and each participant gets one session.",
            prolific_warning(study),
        ),
        Link(
            "mturk",
            "Mechanical Turk",
            external_question(study),
            "The question of a HIT (ExternalQuestion). Mechanical Turk adds workerId, assignmentId, hitId and "
            "turkSubmitTo to the link; a preview there starts no session here. Before you pay anybody, try a whole "
            "session in the sandbox, including submitting the HIT.",
            turk_warning(study),
        ),
    ]


def external_question(study: Study) -> str:
    return (
        f'<ExternalQuestion xmlns="{TURK_SCHEMA}">\n'
        f"  <ExternalURL>{escape(study.public_url)}</ExternalURL>\n"
        "  <FrameHeight>0</FrameHeight>\n"
        "</ExternalQuestion>"
    )


def prolific_warning(study: Study) -> str:
    if study.prolific_return_url or study.completion_code:
        return ""
    return (
        "Participants cannot prove that they finished: set Prolific’s completion link as the study’s return link to "
        "Prolific, or set a completion code."
    )


def turk_warning(study: Study) -> str:
    if not study.public_url.startswith("https://"):
        return "Mechanical Turk only accepts links that begin with https://."
    if not settings.JEDI_FRAME_ANCESTORS:
        return (
            "Mechanical Turk shows the study inside a page of its own. This server does not allow that yet: "
            "set JEDI_FRAME_ANCESTORS, as .env.example shows."
        )
    return ""


def try_url(study: Study) -> str:
    """The study as Prolific would open it for a new participant. The invitation makes the session a preview."""
    parameters = {
        "PROLIFIC_PID": secrets.token_hex(12),
        "STUDY_ID": "a-study-to-try",
        "SESSION_ID": secrets.token_hex(12),
        "invitation": invitation(study, Participant.Purpose.PREVIEW),
    }
    return f"{study.get_absolute_url()}?{urlencode(parameters)}"


PAGES = (
    Page("share", "share/", share, title="Links", is_often_opened=True),
    Page("qr", "share/qr.svg", qr),
)
