"""In which form a reply is given."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AsItIs(DefaultContentNegotiation):
    """Where there is one form alone, the reply has it, whatever the client says it accepts; to ask takes longer than to
    write the reply. An address that ends in .csv gives that."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> Any:
        only, *others = renderers
        if not others:
            return only, only.media_type
        return super().select_renderer(request, renderers, format_suffix)
