"""Invented species of butterfly, for demonstration studies that need no photographs.

The species is drawn first, then the cues that depend on it, then nuisance traits that do not. Hue is
the salient false lead: all species have exactly the same hues. All traits are z-scores;
`demo.painting` turns them into a picture.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from datasets.demo import painting
from jobs.processes import mapped

TRAIT_NAMES = (
    "tip",
    "pupil",
    "band",
    "size",
    "tilt",
    "dots",
    "veins",
    "scallops",
    "paper",
    "light",
    "antennae",
    "body",
    "tails",
    "speckle",
    "hue",
)


@dataclass(frozen=True)
class Species:
    """Species that belong together: their names, the traits that tell them apart, and where each lies in those."""

    names: tuple[str, ...]
    cues: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    """one row for each species, in standard deviations"""

    @property
    def nuisances(self) -> tuple[str, ...]:
        return tuple(name for name in TRAIT_NAMES[:-1] if name not in self.cues)


# Half the distance between the two species in every cue: one cue alone decides 82 % of specimens, the three
# together 94 %.
TWO_SHIFT = 0.9
TWO = Species(
    names=("Varnel", "Osmery"),
    cues=("tip", "pupil", "band"),
    centres=((-TWO_SHIFT,) * 3, (TWO_SHIFT,) * 3),
)

# Every species is high in two of five cues and shares each of them with one other species: no cue alone names a
# species, and all together decide 92 % of specimens.
FIVE_SHIFT = 1.25
FIVE = Species(
    names=("Ambrin", "Delmot", "Hestry", "Jorvel", "Quillon"),
    cues=("tip", "pupil", "band", "tails", "scallops"),
    centres=tuple(
        tuple(FIVE_SHIFT if (cue - one) % 5 < 2 else -FIVE_SHIFT for cue in range(5))
        for one in range(5)
    ),
)

IMAGE_SIZE = 480
IMAGE_FORMAT = "JPEG"
IMAGE_QUALITY = 84


@dataclass(frozen=True)
class Specimen:
    """One butterfly: the number of its species, its traits, and the seed of incidental texture."""

    label: int
    traits: tuple[float, ...]
    """in the order of TRAIT_NAMES"""
    grain: int

    def named_traits(self) -> dict[str, float]:
        return dict(zip(TRAIT_NAMES, self.traits, strict=True))


def draw_specimens(count: int, seed: int, species: Species = TWO) -> list[Specimen]:
    """Draw `count` specimens, equally many of each species, in random order."""
    k = len(species.names)
    if count < 0 or count % k:
        raise ValueError(f"count must be a multiple of {k} to balance {k} species, not {count}")
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(k), count // k))
    noise = rng.standard_normal((count, len(species.cues)))
    drawn = dict(zip(species.cues, (np.array(species.centres)[labels] + noise).T, strict=True))
    nuisances = rng.standard_normal((count, len(species.nuisances)))
    drawn |= dict(zip(species.nuisances, nuisances.T, strict=True))
    drawn["hue"] = _balanced_hues(labels, k, rng)
    traits = np.column_stack([drawn[name] for name in TRAIT_NAMES])
    grains = rng.integers(2**32, size=count)
    return [
        Specimen(int(label), tuple(row), int(grain))
        for label, row, grain in zip(labels, traits.tolist(), grains, strict=True)
    ]


def draw_collection(
    seed: int, teaching: int = 240, evaluation: int = 160, species: Species = TWO
) -> tuple[list[Specimen], list[Specimen]]:
    """Draw the teaching and the evaluation specimens, each balanced in species and hue."""
    teaching_seed, evaluation_seed = np.random.SeedSequence(seed).generate_state(2)
    return (
        draw_specimens(teaching, int(teaching_seed), species),
        draw_specimens(evaluation, int(evaluation_seed), species),
    )


def features(specimens: Sequence[Specimen]) -> NDArray[np.float64]:
    """Return the traits as an (n, d) array, columns in the order of TRAIT_NAMES.

    Hue runs along an open arc of colours, not round a circle, so one number encodes it.
    """
    rows = [specimen.traits for specimen in specimens]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(TRAIT_NAMES))


def render(specimen: Specimen, size: int = IMAGE_SIZE) -> Image.Image:
    """Draw the specimen as a square RGB image, pinned in its drawer."""
    return painting.paint(specimen.named_traits(), specimen.grain, size)


def encode(image: Image.Image) -> bytes:
    """Encode the pixels alone: a fresh canvas leaves comments and profiles behind."""
    canvas = Image.new("RGB", image.size)
    canvas.paste(image)
    buffer = io.BytesIO()
    canvas.save(buffer, IMAGE_FORMAT, quality=IMAGE_QUALITY, subsampling="4:2:0", optimize=True)
    return buffer.getvalue()


def encoded_images(specimens: Sequence[Specimen], workers: int = 2) -> list[bytes]:
    """Render and encode all specimens, in their order, with up to `workers` processes."""
    with mapped(_encoded_image, specimens, workers=workers, chunk=20) as images:
        return list(images)


def _encoded_image(specimen: Specimen) -> bytes:
    return encode(render(specimen))


def _balanced_hues(
    labels: NDArray[np.int64], k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Give every species the same evenly spaced hues, of unit variance, each in its own order."""
    per_species = labels.size // k
    steps = (np.arange(per_species) + 0.5) / max(per_species, 1)
    levels = (2 * steps - 1) * np.sqrt(3)
    hues = np.empty(labels.size)
    for label in range(k):
        hues[labels == label] = rng.permutation(levels)
    return hues
