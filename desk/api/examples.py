"""Examples for the schema of the researchers' API."""

from typing import Any

from studies.api.examples import ERRORS as SESSION_ERRORS
from studies.api.examples import example_request, example_response

_SUMMARY = {
    "slug": "butterflies-1",
    "title": "Two butterflies",
    "state": "open",
    "role": "owner",
    "created_at": "2031-03-01T09:00:00Z",
    "public_url": "https://study.example.org/s/butterflies-1/",
}
_COUNTS = {
    "joined": 41,
    "done": 30,
    "under_way": 4,
    "abandoned": 5,
    "declined": 1,
    "withdrawn": 1,
    "excluded": 0,
}
_DETAIL = _SUMMARY | {
    "version": {"number": 2, "hash": "9f2c1a…"},
    "settings": {"arms": "jedi,imt,eer,rt", "evaluation_size": 100},
    "classes": ["Hollin", "Merrow"],
    "max_participants": 80,
    "target_per_arm": 20,
    "counts": _COUNTS,
    "arms": [{"arm": "jedi", "is_open": True, **_COUNTS}],
}
_PARTICIPANT = {
    "participant": "K7QF-2MXD",
    "purpose": "live",
    "stage": "done",
    "arm": "jedi",
    "is_excluded": False,
    "version": 2,
    "memory_span": 5.5,
    "beta": 0.8181818181818181,
    "beta_mapping": "paper",
    "beta_inputs": {},
    "beta_fitted": 0.45,
    "beta_fitted_low": 0.1,
    "beta_fitted_high": 0.85,
    "teaching_steps": 30,
    "unique_examples": 24,
    "first_seen_accuracy": 0.625,
    "evaluation_accuracy": 0.83,
    "evaluation_macro_recall": 0.83,
    "evaluation_kappa": 0.66,
    "teaching_gain": 0.205,
    "joined_at": "2031-03-01T10:00:00Z",
    "consented_at": "2031-03-01T10:00:40Z",
    "teaching_started_at": "2031-03-01T10:06:10Z",
    "evaluation_started_at": "2031-03-01T10:11:55Z",
    "finished_at": "2031-03-01T10:18:02Z",
    "last_seen_at": "2031-03-01T10:18:02Z",
}


def _page(row: dict[str, Any]) -> dict[str, Any]:
    return {"count": 1, "next": None, "previous": None, "results": [row]}


STUDIES = [example_response("One study", _page(_SUMMARY))]
STUDY = [example_response("A study", _DETAIL)]
NEW_STUDY = [
    example_request(
        "A study of a data set",
        {
            "slug": "butterflies-2",
            "title": "Two butterflies",
            "dataset": "Butterflies",
            "consent": "This study of the University of Somewhere …",
            "evaluation_size": 60,
        },
    ),
    example_response("It is a draft", _DETAIL | {"state": "draft", "version": None}, status=201),
]
_LINE = {
    "check": "rate",
    "title": "Learning rate",
    "grade": "question",
    "sentence": "The learning rate η₀ = 0.03 is 29.8 times smaller than the 0.894 that the data set suggests …",
}
CHECKS = [example_response("One line", _LINE)]
STATE = [
    example_request("Pause it", {"state": "paused"}),
    example_response("It is paused", _DETAIL | {"state": "paused", "questions": []}),
]
PARTICIPANTS = [example_response("One participant", _page(_PARTICIPANT))]

ERRORS = SESSION_ERRORS | {
    400: (
        "invalid",
        "The request cannot be used. Correct the fields that are named and send it again.",
    ),
    401: ("not_authenticated", "Send “Authorization: Bearer …” with an access token."),
    403: ("permission_denied", "This study is shared with you for reading only."),
    409: ("state_not_allowed", "A study that is closed cannot become draft."),
    413: ("too_large", "The body is too large."),
    429: ("throttled", "Request was throttled. Expected available in 20 seconds."),
}
