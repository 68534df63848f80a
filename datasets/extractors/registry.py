"""All extractors by name. Another one is a file of its own and a row here."""

from .base import Extractor
from .brought import BroughtExtractor
from .colour import ColourExtractor
from .deep import DeepExtractor
from .paper import PaperExtractor

EXTRACTORS: dict[str, Extractor] = {
    extractor.name: extractor
    for extractor in (PaperExtractor(), ColourExtractor(), DeepExtractor(), BroughtExtractor())
}
