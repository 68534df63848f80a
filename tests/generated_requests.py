"""Requests that schemathesis generates from the published schema: what is checked, and how they are drawn."""

import hypothesis
from hypothesis import HealthCheck, Phase
from schemathesis import checks

CHECKED = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
# The same requests in every run, and a failing one as it was drawn.
SAME_EVERY_TIME = hypothesis.settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
