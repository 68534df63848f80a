"""20 Newsgroups as 150 TF-IDF features, by scikit-learn's own loader and vectoriser.

scikit-learn is an optional dependency of this experiment. Without a network, the data come from a folder: its own data
folder, or the unpacked archive with one folder for each newsgroup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from teaching.engine.arrays import FloatArray

from .experiment import BadExperiment

REMEDY = (
    "The text data sets need scikit-learn. Install it with: make research. Or give prepared features with "
    "--features, or run without them: --data gaussian."
)
FEATURES = 150
# Headers, signatures and quotations reveal the newsgroup.
REMOVED = ("headers", "footers", "quotes")
CACHE_FILE = "20news-bydate_py3.pkz"
SEED = 0


@dataclass(frozen=True)
class Pair:
    """Two newsgroups, the largest of their groups, and the paper's number of documents of both."""

    negative: str
    positive: str
    size: int


PAIRS = {
    "comp_vs_sci": Pair("comp.windows.x", "sci.crypt", 1875),
    "rec_vs_talk": Pair("rec.sport.hockey", "talk.politics.mideast", 1844),
}


def prepare(name: str, path: Path, source: Path | None = None) -> None:
    """Write the features of a pair to an archive with X and y."""
    if find_spec("sklearn") is None:
        raise BadExperiment(REMEDY)
    pair = PAIRS[name]
    texts, labels = documents(pair, source)
    # The paper has a few documents fewer; it does not say which.
    kept = np.random.default_rng(SEED).permutation(len(texts))[: pair.size]
    features = tf_idf([texts[place] for place in kept])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, X=features, y=labels[kept])


def documents(pair: Pair, source: Path | None) -> tuple[list[str], FloatArray]:
    """The texts of a pair of newsgroups and their labels, −1 and +1."""
    if source is not None and not (source / CACHE_FILE).exists():
        return _from_folders(pair, source)
    return _from_scikit_learn(pair, source)


def tf_idf(texts: Sequence[str]) -> FloatArray:
    """TF-IDF of the 150 most frequent words except stop words; rows have length 1, or 0 if empty."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(max_features=FEATURES, stop_words="english")
    return np.asarray(vectoriser.fit_transform(texts).toarray())


def _from_scikit_learn(pair: Pair, source: Path | None) -> tuple[list[str], FloatArray]:
    from sklearn.datasets import fetch_20newsgroups

    try:
        found = fetch_20newsgroups(
            data_home=None if source is None else str(source),
            subset="all",
            categories=[pair.negative, pair.positive],
            remove=REMOVED,
            download_if_missing=source is None,
        )
    except OSError as error:
        raise BadExperiment(
            f"20 Newsgroups cannot be loaded ({error}). Name a folder that holds it with --newsgroups, or give "
            "prepared features with --features."
        ) from error
    is_positive = np.array(found.target_names)[found.target] == pair.positive
    return list(found.data), np.where(is_positive, 1.0, -1.0)


def _from_folders(pair: Pair, source: Path) -> tuple[list[str], FloatArray]:
    """From folders named like newsgroups, anywhere below the source: the archive separates train and test."""
    texts: list[str] = []
    labels: list[float] = []
    for group, label in ((pair.negative, -1.0), (pair.positive, 1.0)):
        files = sorted(path for path in source.glob(f"**/{group}/*") if path.is_file())
        if not files:
            raise BadExperiment(f"{source} holds no folder {group} with documents.")
        texts += [_bare(path.read_text(encoding="latin-1")) for path in files]
        labels += [label] * len(files)
    return texts, np.array(labels)


def _bare(text: str) -> str:
    """A document stripped as scikit-learn's loader does."""
    from sklearn.datasets._twenty_newsgroups import (
        strip_newsgroup_footer,
        strip_newsgroup_header,
        strip_newsgroup_quoting,
    )

    return str(strip_newsgroup_quoting(strip_newsgroup_footer(strip_newsgroup_header(text))))
