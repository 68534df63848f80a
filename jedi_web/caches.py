"""The cache that several web servers share, which may be away for a while without anybody noticing."""

import logging
from time import monotonic
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

# For a connection, and for an answer. All workers of a process wait with the one who joins.
LONGEST_WAIT_SECONDS = 0.1
# How long nobody asks a cache that has failed. Limits do not hold meanwhile.
AWAY_SECONDS = 5.0

# Of caches that have failed, by address: until when nobody asks. Every thread has a cache object of its own, but what
# one of them finds out holds for all.
_away_until: dict[str, float] = {}


class SharedCache(RedisCache):
    """Valkey or Redis. While it is away it seems empty, so throttles let everybody pass: a worker who cannot join is
    the greater loss."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {
            "socket_connect_timeout": LONGEST_WAIT_SECONDS,
            "socket_timeout": LONGEST_WAIT_SECONDS,
            # Once more and at once if a connection is lost, because it may be older than the server. Whoever got no
            # answer in time has waited long enough.
            "retry": Retry(NoBackoff(), 1, (ConnectionLost,)),
        }
        super().__init__(server, params | {"OPTIONS": options})
        self._server = server

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        if self._is_away():
            return default
        try:
            return super().get(key, default, version)
        except RedisError as error:
            self._leave_alone(error)
            return default

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        if self._is_away():
            return
        try:
            super().set(key, value, timeout, version)
        except RedisError as error:
            self._leave_alone(error)

    def answers(self) -> bool:
        """Asks also while nobody else does. If it gives back what is put into it, all ask again."""
        try:
            super().set("readiness", 1)
            is_well = bool(super().get("readiness") == 1)
        except RedisError as error:
            self._leave_alone(error)
            return False
        _away_until.pop(self._server, None)
        return is_well

    def _is_away(self) -> bool:
        return monotonic() < _away_until.get(self._server, 0.0)

    def _leave_alone(self, error: RedisError) -> None:
        _away_until[self._server] = monotonic() + AWAY_SECONDS
        logger.warning(
            "The cache does not answer (%s). Nobody asks it for %.0f seconds.",
            type(error).__name__,
            AWAY_SECONDS,
        )
