"""What a worker's line has to carry before the first page can be used."""

import pytest

from .conftest import MakeStudy, Visit
from .visitor import Visitor

MAX_REQUESTS = 22
MAX_BYTES = 70_000


def carried(visitor: Visitor) -> list[tuple[str, int]]:
    """Every request but for pictures, and the bytes that came for it."""
    parts = ("responseBodySize", "responseHeadersSize")
    return [
        (request.url, sum(request.sizes()[part] for part in parts))
        for request in visitor.requests
        if "/images/" not in request.url
    ]


@pytest.mark.chromium
def test_the_first_pages_come_in_few_requests_and_few_bytes(visit: Visit, study: MakeStudy) -> None:
    """From the door of a study to the question of consent: both pages together are lighter than one may be."""
    visitor = visit(f"/s/{study()}/")
    with visitor.page.expect_response("**/w/*/") as shell:
        visitor.enter()
    visitor.page.wait_for_load_state("networkidle")
    assert shell.value.header_value("content-encoding") == "gzip"
    requests = carried(visitor)
    assert len(requests) < MAX_REQUESTS, requests
    assert sum(size for _, size in requests) < MAX_BYTES, requests
