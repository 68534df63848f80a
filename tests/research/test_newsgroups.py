"""Texts by scikit-learn, from folders that need no network."""

import sys

import numpy as np
import pytest

from research import newsgroups
from research.data import read_labelled
from research.experiment import BadExperiment

HEADER = "From: {who}@example.org\nSubject: {subject}\n\n"
BODIES = {
    "comp.windows.x": "The window manager draws a window on the display server number {k}.",
    "sci.crypt": "The cipher encrypts the message with a secret key number {k}.",
}


@pytest.fixture
def folder(tmp_path):
    """Like the unpacked archive: train and test apart, one folder for each newsgroup."""
    for place, part in enumerate(["20news-bydate-train", "20news-bydate-test"]):
        for group, body in BODIES.items():
            home = tmp_path / part / group
            home.mkdir(parents=True)
            for k in range(4):
                text = HEADER.format(who="giveaway", subject="giveaway") + body.format(k=k)
                (home / f"{place}{k}").write_text(text, encoding="latin-1")
    return tmp_path


def test_folders_become_tf_idf_features(folder, tmp_path):
    newsgroups.prepare("comp_vs_sci", tmp_path / "out" / "comp_vs_sci.npz", folder)
    examples = read_labelled(tmp_path / "out" / "comp_vs_sci.npz")
    assert len(examples.labels) == 16
    assert (examples.labels == 1).sum() == 8
    np.testing.assert_allclose(np.linalg.norm(examples.features, axis=1), 1)
    plus = examples.features[examples.labels > 0].sum(axis=0) > 0
    minus = examples.features[examples.labels == 0].sum(axis=0) > 0
    # Nothing but "number" is said in both.
    assert (plus & minus).sum() == 1


def test_headers_give_nothing_away(folder):
    texts, labels = newsgroups.documents(newsgroups.PAIRS["comp_vs_sci"], folder)
    assert not any("giveaway" in text for text in texts)
    assert list(labels) == [-1.0] * 8 + [1.0] * 8


def test_a_folder_without_the_newsgroup_is_named(folder, tmp_path):
    with pytest.raises(BadExperiment, match=r"rec\.sport\.hockey"):
        newsgroups.prepare("rec_vs_talk", tmp_path / "x.npz", folder)


def test_scikit_learns_own_folder_is_read_without_a_network(tmp_path, monkeypatch):
    """A made cache in the form that scikit-learn's loader writes."""
    import codecs
    import pickle

    from sklearn.utils import Bunch

    def part(count):
        groups = ["comp.windows.x", "rec.autos", "sci.crypt"]
        target = np.resize([0, 1, 2], count)
        data = [HEADER.format(who="a", subject="b") + f"word {groups[t]}" for t in target]
        return Bunch(
            data=data, target=target, target_names=groups, filenames=np.array(["f"] * count)
        )

    cache = {"train": part(6), "test": part(3)}
    content = codecs.encode(pickle.dumps(cache), "zlib_codec")
    (tmp_path / newsgroups.CACHE_FILE).write_bytes(content)
    texts, labels = newsgroups.documents(newsgroups.PAIRS["comp_vs_sci"], tmp_path)
    assert sorted(labels) == [-1.0] * 3 + [1.0] * 3
    assert all(("crypt" in text) == (label > 0) for text, label in zip(texts, labels, strict=True))


def test_without_scikit_learn_the_command_to_install_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(BadExperiment, match="make research"):
        newsgroups.prepare("comp_vs_sci", tmp_path / "x.npz")
