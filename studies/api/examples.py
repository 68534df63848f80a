"""Examples for the schema of the session API."""

from typing import Any

from drf_spectacular.utils import OpenApiExample

from studies.errors import InvalidAnswer, SessionOver, StudyNotOpen

from .errors import BodyTooLarge

_SESSION = {
    "code": "K7QF-2MXD",
    "study": "Two butterflies",
    "classes": ["Hollin", "Merrow"],
    "stage": "teaching",
    "stages": [
        {"name": "memory", "title": "Memory", "done": 3, "part": 0.0, "total": 3},
        {"name": "teaching", "title": "Learning", "done": 4, "part": 0.0, "total": 30},
        {"name": "evaluation", "title": "Test", "done": 0, "part": 0.0, "total": 100},
    ],
    "page": {"answer_keys": True, "minutes_left": 12, "shows_effort": True, "offers_breaks": True},
}
_IN_EVALUATION = [
    {"name": "memory", "title": "Memory", "done": 3, "part": 0.0, "total": 3},
    {"name": "teaching", "title": "Learning", "done": 30, "part": 0.0, "total": 30},
    {"name": "evaluation", "title": "Test", "done": 14, "part": 0.0, "total": 102},
]
_IMAGE = {"url": "/w/Zk3v…/images/5f0c2a9be17d4c6688aa01d3", "alt": "Specimen to classify"}
_TEACHING = {
    "kind": "teaching",
    "position": 17,
    "step": 5,
    "steps": 30,
    "image": _IMAGE,
    "last_feedback": None,
}
_FIRST = _TEACHING | {
    "position": 13,
    "step": 1,
    "references": [
        {
            "name": "Hollin",
            "description": "Rounded wing tips.",
            "image": {"url": "/w/Zk3v…/images/0be4…", "alt": "A picture of the class Hollin"},
        },
        {
            "name": "Merrow",
            "description": "Pointed wing tips.",
            "image": {"url": "/w/Zk3v…/images/9d17…", "alt": "A picture of the class Merrow"},
        },
    ],
}
_CHECK = {
    "kind": "evaluation",
    "position": 61,
    "item": 15,
    "items": 102,
    "image": _IMAGE,
    "instruction": "Merrow",
    "prefetch": ["/w/Zk3v…/images/c19ad0f24b7e4d55a1b20c77"],
    "last_feedback": None,
}
_MEMORY = {
    "kind": "memory",
    "position": 2,
    "phase": "ready",
    "is_reported": False,
    "trial": 1,
    "trials": 3,
    "is_practice": False,
    "length": 2,
    "longest": 9,
    "exposure_ms": 3000,
    "images": [
        {"id": "umbrella", "url": "/w/Zk3v…/images/umbrella", "alt": "umbrella"},
        {"id": "key", "url": "/w/Zk3v…/images/key", "alt": "key"},
    ],
}


def example_request(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


def example_response(name: str, value: dict[str, Any], status: int = 200) -> OpenApiExample:
    return OpenApiExample(name, value=value, response_only=True, status_codes=[str(status)])


def _state(task: dict[str, Any], **session: Any) -> dict[str, Any]:
    return {"session": _SESSION | session, "task": task}


JOIN = [
    example_request(
        "From Prolific", {"PROLIFIC_PID": "5f1e…", "STUDY_ID": "60aa…", "SESSION_ID": "61bb…"}
    ),
    example_request(
        "From Mechanical Turk", {"workerId": "A1B2…", "assignmentId": "3C4D…", "hitId": "3E5F…"}
    ),
    example_request("From the plain link", {}),
    example_response("A new session", {"token": "Zk3v…", "url": "/w/Zk3v…/"}, 201),
]
STATES = [
    example_response("A memory round", _state(_MEMORY, stage="memory")),
    example_response("The first teaching step, with reference pictures", _state(_FIRST)),
    example_response("A teaching step", _state(_TEACHING)),
    example_response(
        "An attention check of the evaluation",
        _state(_CHECK, stage="evaluation", stages=_IN_EVALUATION),
    ),
]
EXPOSURE = [
    example_request("Start the display", {"position": 2}),
    example_response(
        "The order, once",
        _state(_MEMORY | {"phase": "recall", "order": ["key", "umbrella"]}, stage="memory"),
    ),
]
DISPLAY = [
    example_request(
        "Shown as planned",
        {
            "position": 2,
            "shown_ms": 3000.2,
            "dropped_frames": 0,
            "hidden_ms": 0,
            "unfocused_ms": 0,
            "picture_px": 160.5,
            "window_width": 1280,
            "window_height": 800,
            "pixel_ratio": 2,
            "pointer": "fine",
        },
    ),
    example_request("Reloaded during the display", {"position": 2, "is_interrupted": True}),
    example_response(
        "The round is played again",
        {
            "feedback": {
                "kind": "memory",
                "position": 2,
                "disturbance": "interrupted",
                "is_replaced": True,
                "is_practice": False,
                "length": 2,
                "trial": 1,
            },
            **_state(_MEMORY | {"position": 3}, stage="memory"),
        },
    ),
]
ANSWERS = [
    example_request("Consent", {"position": 1, "agree": True}),
    example_request(
        "A memory round",
        {"position": 2, "order": ["key", "umbrella"], "response_ms": 5210.4, "shown_ms": 3003.1},
    ),
    example_request(
        "A teaching or evaluation image", {"position": 17, "label": "Hollin", "response_ms": 1830.2}
    ),
]
ANSWER_REPLIES = [
    example_response(
        "Feedback and the next step",
        {
            "feedback": {
                "kind": "teaching",
                "position": 17,
                "is_correct": False,
                "answer": "Hollin",
                "label": "Merrow",
                "image": _IMAGE,
                "min_look_ms": 600,
                "auto_advance_ms": 0,
                "score": {"right": 3, "answers": 5, "in_a_row": 0},
            },
            **_state(_TEACHING | {"position": 18, "step": 6}),
        },
    ),
]
WITHDRAWAL = [example_response("The answers would be deleted", {"deletes": True})]
WITHDRAWN = [
    example_response(
        "The session is over",
        _state(
            {
                "kind": "done",
                "outcome": "withdrawn",
                "keeps_answers": False,
                "score": None,
                "score_follows": False,
                "comparison": None,
                "bonus": None,
                "completion_code": None,
                "return_url": None,
                "submission": None,
            },
            stage="withdrawn",
        ),
    ),
]
EVENTS = [
    example_request(
        "Out of sight and back",
        {
            "sent_ms": 65200.0,
            "events": [
                {"kind": "hidden", "client_ms": 60120.5, "position": 17},
                {"kind": "shown", "client_ms": 64890.0, "position": 17},
            ],
        },
    ),
    example_response("Kept", {"kept": 2}),
]
ERRORS = {
    400: (InvalidAnswer.code, InvalidAnswer.message),
    403: (StudyNotOpen.code, StudyNotOpen.message),
    404: ("not_found", "There is nothing here."),
    409: ("already_answered", "This task was answered before, and that answer stands."),
    410: (SessionOver.code, SessionOver.message),
    413: (BodyTooLarge.default_code, BodyTooLarge.default_detail),
    415: ("unsupported_media_type", "The body is not JSON."),
    429: ("throttled", "Too many sessions were started from here. Wait a minute."),
}
