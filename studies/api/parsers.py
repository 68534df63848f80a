"""Request bodies are small, or refused before they are read."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

MAX_BYTES = 16 * 1024


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = "The body is too large. An answer needs less than 16 KiB."


class SmallJSONParser(JSONParser):
    strict = True

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        request = (parser_context or {})["request"]
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BYTES:
            raise BodyTooLarge
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            # Thousands of brackets inside each other fit into a small body.
            raise ParseError from error
