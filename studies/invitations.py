"""Signed links that let people in for a purpose other than taking part: a preview or a rehearsal."""

from django.core import signing

from .models import Participant, Study

SALT = "studies.invitation"
DAY = 86_400
PURPOSES = (Participant.Purpose.PREVIEW, Participant.Purpose.REHEARSAL)


def invitation(study: Study, purpose: str) -> str:
    """A text that opens the study for a day, whatever its state, for sessions that never count."""
    return signing.dumps([study.pk, purpose], salt=SALT, compress=True)


def purpose_of(text: str, study: Study) -> str:
    """What a text invites to; nothing if we did not sign it, or if it is for another study or too old."""
    try:
        number, purpose = signing.loads(text, salt=SALT, max_age=DAY)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return purpose if number == study.pk and purpose in PURPOSES else ""
