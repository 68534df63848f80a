"""Who sent a participant, by the parameters of the link, and signed invitations for sessions that never count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from django.core import signing

from .models import Participant, Study

MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
HOST = re.compile(r"[a-z0-9.-]+")
SALT = "studies.invitation"
DAY = 86_400
INVITED_PURPOSES = (Participant.Purpose.PREVIEW, Participant.Purpose.REHEARSAL)


@dataclass(frozen=True)
class Recruitment:
    """Who sent the worker, from the parameters of the link."""

    recruiter: str = ""
    external_id: str = ""
    external_study: str = ""
    external_session: str = ""
    # The origin that takes the finished task, if it is one of Mechanical Turk's.
    submit_to: str = ""
    is_preview: bool = False
    # Of a signed invitation; empty for everybody who comes by the public link.
    purpose: str = ""

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> Recruitment:
        def value(name: str) -> str:
            return parameters.get(name, "").replace("\0", "").strip()[:120]

        if value("PROLIFIC_PID"):
            return cls(
                Participant.Recruiter.PROLIFIC,
                value("PROLIFIC_PID"),
                value("STUDY_ID"),
                value("SESSION_ID"),
            )
        if value("workerId") or value("assignmentId"):
            is_preview = value("assignmentId") == MTURK_PREVIEW or not value("workerId")
            return cls(
                Participant.Recruiter.MTURK,
                value("workerId"),
                value("hitId"),
                value("assignmentId"),
                submit_to=turk_origin(value("turkSubmitTo")),
                is_preview=is_preview,
            )
        return cls()

    def invited(self, study: Study, text: str) -> Recruitment:
        """The same person with a signed invitation, if that is what the text is."""
        return replace(self, purpose=purpose_of(text, study)) if text else self

    def find(self, study: Study) -> Participant | None:
        if not self.external_id or self.is_preview:
            return None
        return study.participants.filter(
            purpose=self.purpose_in(study), recruiter=self.recruiter, external_id=self.external_id
        ).first()

    def purpose_in(self, study: Study) -> str:
        """What a session that begins now is for: a study that is piloted takes pilots."""
        if self.purpose:
            return self.purpose
        is_pilot = study.state == Study.State.PILOT
        return Participant.Purpose.PILOT if is_pilot else Participant.Purpose.LIVE


def turk_origin(address: str) -> str:
    """The origin of an address on Mechanical Turk, its sandbox included; empty for any other address."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    is_theirs = host == "mturk.com" or host.endswith(".mturk.com")
    is_plain = parts.scheme == "https" and port is None and "@" not in parts.netloc
    return f"https://{host}" if is_theirs and is_plain and HOST.fullmatch(host) else ""


def invitation(study: Study, purpose: str) -> str:
    """A signed token that lets people in for a day, whatever the state of the study, for a preview or a rehearsal."""
    return signing.dumps([study.pk, purpose], salt=SALT, compress=True)


def purpose_of(text: str, study: Study) -> str:
    """The purpose of an invitation; empty if it is forged, expired or for another study."""
    try:
        number, purpose = signing.loads(text, salt=SALT, max_age=DAY)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return purpose if number == study.pk and purpose in INVITED_PURPOSES else ""
