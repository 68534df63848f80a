"""The cache that several web servers share, which may be away for a while without anybody noticing."""

import logging
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

# A worker who joins waits no longer than this for a cache that does not answer.
LONGEST_WAIT_SECONDS = 0.5


class SharedCache(RedisCache):
    """Valkey or Redis. While it is away it seems empty, so throttles let everybody pass: a worker who cannot join is
    the greater loss."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {
            "socket_connect_timeout": LONGEST_WAIT_SECONDS,
            "socket_timeout": LONGEST_WAIT_SECONDS,
            # Once more and at once: the connection may be older than the server.
            "retry": Retry(NoBackoff(), 1),
        }
        super().__init__(server, params | {"OPTIONS": options})

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except RedisError as error:
            logger.warning("The cache could not be read (%s).", type(error).__name__)
            return default

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        try:
            super().set(key, value, timeout, version)
        except RedisError as error:
            logger.warning("The cache could not be written (%s).", type(error).__name__)
