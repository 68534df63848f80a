"""Rate limits of both APIs, which hold as long as the cache can be reached."""

import logging
import time

from django.conf import settings
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

logger = logging.getLogger(__name__)

LOG_SECONDS = 60.0


class CacheTolerantThrottle(SimpleRateThrottle):
    """Allows every request while Redis cannot be reached: a participant who cannot join is the greater loss."""

    # When the failing cache was last logged, by any thread.
    logged_at = -LOG_SECONDS

    def allow_request(self, request: Request, view: APIView) -> bool:
        try:
            return super().allow_request(request, view)
        except RedisError as error:
            if time.monotonic() >= CacheTolerantThrottle.logged_at + LOG_SECONDS:
                CacheTolerantThrottle.logged_at = time.monotonic()
                logger.warning(
                    "The cache of JEDI_CACHE_URL fails, so there are no rate limits: %s", error
                )
            return True

    @staticmethod
    def timer() -> float:
        """Servers that share a cache need the same clock; otherwise, use one that cannot be set back."""
        return time.time() if settings.JEDI_SHARES_CACHE else time.monotonic()
