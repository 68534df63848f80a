"""Whose requests are whose, by their addresses."""

# A worker has no account, and sends by far the most requests.
WORKERS = ("/api/sessions/", "/api/studies/", "/w/", "/healthz")


def is_of_a_worker(path: str) -> bool:
    return path.startswith(WORKERS)
