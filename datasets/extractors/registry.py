"""All extractors by name. Adding one takes a file of its own and a row here, and nothing else."""

from .base import Extractor
from .colour import ColourExtractor
from .deep import DeepExtractor
from .paper import PaperExtractor
from .precomputed import PrecomputedExtractor

EXTRACTORS: dict[str, Extractor] = {
    extractor.name: extractor
    for extractor in (PaperExtractor(), ColourExtractor(), DeepExtractor(), PrecomputedExtractor())
}
