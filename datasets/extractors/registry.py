"""All extractors by name. Another one is a file of its own and a row here."""

from .base import Extractor
from .colour import ColourExtractor
from .deep import DeepExtractor
from .paper import PaperExtractor
from .precomputed import BroughtExtractor

EXTRACTORS: dict[str, Extractor] = {
    extractor.name: extractor
    for extractor in (PaperExtractor(), ColourExtractor(), DeepExtractor(), BroughtExtractor())
}
