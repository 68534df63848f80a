"""From images to the features that a teacher needs."""

from .base import (
    FEATURES,
    BadDescriptions,
    CancelCheck,
    Cancelled,
    Describer,
    Description,
    Extractor,
    ExtractorError,
    ExtractorMissing,
    Fitted,
    FloatArray,
    ImageLike,
    IntArray,
    Progress,
)
from .parallel import Source, describe_all, described
from .registry import EXTRACTORS
from .storage import BadFittedFile, load, save

__all__ = [
    "EXTRACTORS",
    "FEATURES",
    "BadDescriptions",
    "BadFittedFile",
    "CancelCheck",
    "Cancelled",
    "Describer",
    "Description",
    "Extractor",
    "ExtractorError",
    "ExtractorMissing",
    "Fitted",
    "FloatArray",
    "ImageLike",
    "IntArray",
    "Progress",
    "Source",
    "describe_all",
    "described",
    "load",
    "save",
]
