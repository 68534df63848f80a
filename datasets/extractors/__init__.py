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
    ImageLike,
)
from .parallel import ImageSource, describe_all, described
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
    "ImageLike",
    "ImageSource",
    "describe_all",
    "described",
    "load",
    "save",
]
