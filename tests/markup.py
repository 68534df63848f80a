"""Pages as tests compare them: how a template breaks its lines is no part of what it says."""

import re
from typing import Any


def markup_of(reply: Any) -> str:
    """The page's markup with every run of white space as one space, and none between two tags; no-break spaces stay."""
    one_line = re.sub(r"[ \t\r\n]+", " ", reply.content.decode())
    return one_line.replace("> <", "><")
