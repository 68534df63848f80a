"""The pool: what it takes, what it refuses, that it stays as it is and comes back from disk."""

import json
import multiprocessing
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from teaching.engine import (
    TEACHERS,
    BadHistory,
    BadPool,
    BadPoolFolder,
    Pool,
    PoolTooLarge,
    Shown,
    belief,
    concept,
    harmonic,
    make_teacher,
    storage,
)
from teaching.engine import pool as pool_file
from teaching.engine.classes import concept_vector, likeliest
from tests.teaching.engine.builders import (
    as_signs,
    class_pool,
    gaussian_classes,
    make_pool,
    many_classes,
    path_graph,
    random_history,
)


def test_the_target_minimises_the_ridge_logistic_loss():
    pool = as_signs(make_pool(80, 4))
    margins = pool.labels * (pool.features @ pool.target)
    pull = pool.features.T @ (pool.labels / (1 + np.exp(margins)))
    np.testing.assert_allclose(0.001 * 80 * pool.target, pull, atol=1e-9)


@pytest.mark.parametrize("n, d, k", [(80, 4, 3), (60, 5, 5), (24, 40, 4)])
def test_the_target_of_many_classes_minimises_the_ridge_logistic_loss(n, d, k):
    features, labels = many_classes(n, d, k=k)
    pool = Pool(features, labels)
    logits = features @ pool.target.T
    for c in range(k):
        p = np.exp(logits[:, c]) / np.exp(logits).sum(axis=1)
        pull = features.T @ ((labels == c) - p)
        # The derivative of λ‖W‖².
        np.testing.assert_allclose(2 * 0.001 * n * pool.target[c], pull, atol=1e-9)
    np.testing.assert_allclose(pool.target.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("n, d, k, scale", [(120, 12, 5, 1.0), (40, 60, 3, 1.0), (80, 4, 2, 1e4)])
def test_many_numbers_are_found_by_iteration_as_by_a_matrix(monkeypatch, n, d, k, scale):
    features, labels = many_classes(n, d, k=k, apart=0.5)
    features = np.column_stack([features * scale, np.ones(n)])
    ridge = np.append(np.full(d, 0.1), 0.0)
    expected = concept.ridge_logistic(features, labels, ridge)
    monkeypatch.setattr(concept, "MOST_DENSE", 0)
    found = concept.ridge_logistic(features, labels, ridge)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


def test_the_target_of_a_separable_pool_is_finite():
    pool = Pool([[1.0], [2.0], [-1.0], [-2.0]], [1, 1, -1, -1])
    assert 1 < concept_vector(pool.target)[0] < 20


def test_more_features_than_examples_have_a_target_too():
    features, labels = gaussian_classes(20, 50)
    pool = as_signs(Pool(features, labels))
    margins = pool.labels * (features @ pool.target)
    pull = features.T @ (pool.labels / (1 + np.exp(margins)))
    np.testing.assert_allclose(0.001 * 20 * pool.target, pull, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1e3, 1e7])
def test_the_target_settles_on_any_scale(scale):
    features, labels = gaussian_classes(80, 4)
    pool = Pool(features * scale, labels)
    assert np.isfinite(pool.target).all()


def test_copies_of_a_feature_on_wild_scales_have_a_target():
    features, labels = gaussian_classes(80, 4)
    pool = Pool(np.hstack([features, features * 1e12, np.full((80, 1), 1e6)]), labels)
    assert np.mean(likeliest(pool.features @ pool.target.T) == pool.labels) > 0.8


def test_a_given_target_is_kept():
    pool = make_pool(10, 3, target=[1, 2, 3])
    assert pool.target.tolist() == [[-0.5, -1, -1.5], [0.5, 1, 1.5]]
    # What all classes share tells none of them apart.
    given = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]])
    kept = class_pool(12, 3, target=given + np.array([5, 6, 7])).target
    np.testing.assert_allclose(kept, given - given.mean(axis=0), atol=1e-14)


def test_precomputed_numbers_are_what_they_are_called():
    pool = make_pool(15, 3)
    x, y = pool.features, pool.labels
    np.testing.assert_allclose(pool.squared_norms, (x**2).sum(axis=1))
    margins = (2 * y - 1) * (x @ concept_vector(pool.target))
    np.testing.assert_allclose(pool.target_losses, np.log(1 + np.exp(-margins)))
    np.testing.assert_allclose(pool.degrees, pool.affinity.toarray().sum(axis=1))
    assert (pool.n, pool.dimensions) == (15, 3)


def test_the_shared_inverse_inverts_the_laplacian_of_sums_that_vanish():
    pool = make_pool(30, 3)
    laplacian = np.diag(pool.degrees) - pool.affinity.toarray()
    flow = np.random.default_rng(0).standard_normal(30)
    flow -= flow.mean()
    np.testing.assert_allclose(laplacian @ (pool.inverse.matrix @ flow), flow, atol=1e-12)
    np.testing.assert_array_equal(pool.inverse.matrix, pool.inverse.matrix.T)
    signs = 2 * pool.labels - 1
    np.testing.assert_allclose(pool.inverse.label_sums[:, 0], pool.inverse.matrix @ signs)


def test_a_pool_cannot_be_changed():
    features, labels = gaussian_classes(15, 3)
    pool = Pool(features, labels)
    features[0, 0] = 99.0
    assert pool.features[0, 0] != 99.0
    with pytest.raises(AttributeError, match="immutable"):
        pool.target = np.zeros(3)
    for array in (pool.features, pool.labels, pool.target, pool.affinity.data, pool.components):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        pool.inverse.matrix[0, 0] = 7


X, Y = gaussian_classes(6, 3)


def with_value(value):
    spoiled = X.copy()
    spoiled[2, 1] = value
    return spoiled


@pytest.mark.parametrize(
    "features, labels, target, remedy",
    [
        (X[:1], Y[:1], None, "at least two"),
        (X[:, :0], Y, None, "one feature"),
        (X[0], Y, None, "shape"),
        (np.empty((0, 3)), [], None, "at least two"),
        ([["a"]], [1], None, "numbers"),
        ([[1.0], [1.0, 2.0]], [1, -1], None, "numbers"),
        (with_value(np.nan), Y, None, "Example 2"),
        (with_value(np.inf), Y, None, "Example 2"),
        (with_value(1e60), Y, None, "scale"),
        (X, Y[:5], None, "shape"),
        (X, [1, -1, 1, -1, 1, 2], None, "Example 5"),
        (X, [1, -1, 1, -1, 1, 0], None, "Example 5"),
        (X, [1, -1, 1, -1, 1, np.nan], None, "Example 5"),
        (X, [1, 0, 1, 0, 1, 0.5], None, "Example 5"),
        (X, [1, 0, 1, 0, 1, -2], None, "Example 5"),
        (X, [1, 1, 1, 1, 1, 1], None, "Class 0 of 2 has no example"),
        (X, [0, 0, 0, 0, 0, 0], None, "Class 1 of 2 has no example"),
        (X, [0, 1, 3, 0, 1, 3], None, "Class 2 of 4 has no example"),
        (X, [0, 1, 20, 0, 1, 2], None, "2 to 20 classes, not 21"),
        (X, [0, 1, 2, 0, 1, 2], [1.0, 2.0, 3.0], r"need \(3, 3\)"),
        (X, ["wild"] * 6, None, "class names"),
        (X, Y, [1.0, 2.0], "constant column"),
        (X, Y, [1.0, 2.0, np.nan], "finite"),
        (X, Y, ["a", "b", "c"], "numbers"),
        (X, Y, [1e200, 1e200, 1e200], None),
        (X * 1e40, Y, [1e300, 1e300, 1e300], "overflow"),
    ],
)
def test_numbers_that_make_no_pool_are_refused_with_the_remedy(features, labels, target, remedy):
    if remedy is None:
        Pool(features, labels, target=target)
        return
    with pytest.raises(BadPool, match=remedy):
        Pool(features, labels, target=target)


@pytest.mark.parametrize(
    "step, complaint",
    [
        (Shown(40, 1, 0.5), "outside 0 … 39"),
        (Shown(-1, 1, 0.5), "outside 0 … 39"),
        (Shown(3, -2, 0.5), "answer"),
        (Shown(3, 2, 0.5), "answer"),
        (Shown(3, 1, 1.1), "outside \\[0, 1\\]"),
        (Shown(3, 1, float("nan")), "outside \\[0, 1\\]"),
        (Shown(2.5, 1, 0.5), "whole number"),
        (Shown("3", 1, 0.5), "whole number"),
        (Shown(3, 1, "half"), "probability"),
        (Shown([1, 2], 1, 0.5), "whole number"),
        ((3, 1, 0.5), "Shown"),
    ],
)
def test_a_history_that_cannot_have_happened_is_refused(step, complaint):
    pool = make_pool(40)
    history = [Shown(1, 1, 0.5), step]
    for ask in (
        lambda: belief(pool, history),
        lambda: make_teacher("jedi").scores(pool, history),
        lambda: make_teacher("eer").choose(pool, history, np.random.default_rng(0)),
    ):
        with pytest.raises(BadHistory, match=complaint):
            ask()


@pytest.mark.parametrize(
    "p, complaint",
    [
        (0.5, "3 classes need 3 probabilities"),
        ((0.5, 0.5), "3 classes need 3 probabilities"),
        ((0.2, 0.3, 0.4), "add up to 1"),
        ((0.5, 0.7, -0.2), "outside \\[0, 1\\]"),
    ],
)
def test_a_history_of_many_classes_needs_the_probability_of_each(p, complaint):
    with pytest.raises(BadHistory, match=complaint):
        belief(class_pool(40), [Shown(1, 2, p), Shown(2, 0, p)])
    with pytest.raises(BadHistory, match="no class 0 … 2"):
        belief(class_pool(40), [Shown(1, -1, (0.2, 0.3, 0.5))])


# On disk.


def test_a_pool_comes_back_from_its_folder(tmp_path):
    pool = make_pool(50)
    pool.save(tmp_path / "pool")
    loaded = Pool.load(tmp_path / "pool")
    for name in pool_file.SAVED:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(pool, name))
    np.testing.assert_array_equal(loaded.affinity.toarray(), pool.affinity.toarray())
    np.testing.assert_array_equal(loaded.inverse.matrix, pool.inverse.matrix)


def test_a_loaded_pool_makes_the_same_choices_to_the_last_bit(tmp_path):
    pool = make_pool(50)
    pool.save(tmp_path / "pool")
    loaded = Pool.load(str(tmp_path / "pool"))
    for name in TEACHERS:
        for steps in (0, 3, 12):
            history = random_history(50, steps, distinct=True)
            teacher = make_teacher(name, beta=0.7)
            here = teacher.choose(pool, history, np.random.default_rng(1))
            assert here == teacher.choose(loaded, history, np.random.default_rng(1))


@pytest.mark.parametrize("limit", [0, 10_000])
def test_a_folder_of_the_first_version_with_two_classes_as_signs_makes_the_same_choices(
    tmp_path, monkeypatch, limit
):
    monkeypatch.setattr(pool_file, "INVERSE_LIMIT", limit)
    monkeypatch.setattr(harmonic, "INVERSE_LIMIT", limit)
    pool = make_pool(50)
    pool.save(tmp_path / "pool")
    first = {"labels": 2.0 * pool.labels - 1, "target": concept_vector(pool.target)}
    write_first_version(tmp_path / "old", tmp_path / "pool", first)
    loaded = Pool.load(tmp_path / "old")
    assert loaded.class_count == 2
    for name in TEACHERS if limit else ("jedi", "imt", "rt", "tracked"):
        history = random_history(50, 12, distinct=True)
        teacher = make_teacher(name, beta=0.7)
        here = teacher.choose(pool, history, np.random.default_rng(1))
        assert here == teacher.choose(loaded, history, np.random.default_rng(1))


def write_first_version(folder, saved, changed):
    """A copy of a saved pool as it was before there were more than two classes."""
    arrays = storage.read(saved) | changed
    if "inverse_label_sums" in arrays:
        arrays["inverse_label_sums"] = arrays["inverse_label_sums"][:, 0]
    storage.write(folder, arrays)
    (folder / "SHA256SUMS").unlink()
    edit_description(folder, version=1)


def is_mapped(array):
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


def test_a_loaded_pool_is_mapped_not_read(tmp_path):
    make_pool(50).save(tmp_path / "pool")
    loaded = Pool.load(tmp_path / "pool")
    parts = (loaded.features, loaded.affinity.data, loaded.affinity.indices, loaded.inverse.matrix)
    assert all(is_mapped(array) for array in parts)
    with pytest.raises(ValueError, match="read-only"):
        loaded.features[0, 0] = 1.0


def belief_elsewhere(folder, history):
    return belief(Pool.load(folder), history)


def test_another_process_believes_the_same(tmp_path):
    pool = make_pool(50)
    pool.save(tmp_path / "pool")
    history = random_history(50, 9)
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        there = workers.apply(belief_elsewhere, (tmp_path / "pool", history))
    np.testing.assert_array_equal(there, belief(pool, history))


def test_a_loaded_pool_can_be_saved_elsewhere(tmp_path):
    make_pool(20).save(tmp_path / "one")
    Pool.load(tmp_path / "one").save(tmp_path / "deep" / "two")
    assert Pool.load(tmp_path / "deep" / "two").n == 20


def test_a_graph_without_edges_comes_back_too(tmp_path):
    features, labels = gaussian_classes(6, 3)
    Pool(features, labels, affinity=np.zeros((6, 6))).save(tmp_path / "pool")
    assert (belief(Pool.load(tmp_path / "pool"), [Shown(0, 1, 0.5)]) == 0.5).all()


def test_a_folder_with_something_in_it_is_not_overwritten(tmp_path):
    pool = make_pool(10)
    pool.save(tmp_path / "pool")
    with pytest.raises(BadPoolFolder, match="not empty"):
        pool.save(tmp_path / "pool")


def test_a_save_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(np, "save", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_pool(10).save(tmp_path / "pool")
    assert list(tmp_path.iterdir()) == []


def edit_description(folder, **changes):
    path = folder / "format.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def truncate(folder):
    path = folder / "features.npy"
    path.write_bytes(path.read_bytes()[:-16])


def misdirect(folder):
    path = folder / "indices.npy"
    np.save(path, np.load(path) + np.int32(1000))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "format.json").unlink(),
        lambda folder: (folder / "format.json").write_text("{"),
        lambda folder: (folder / "format.json").write_text("[]"),
        lambda folder: (folder / "labels.npy").unlink(),
        lambda folder: (folder / "labels.npy").write_bytes(b"nothing"),
        lambda folder: np.save(folder / "labels.npy", np.ones(3)),
        lambda folder: edit_description(folder, version=99),
        lambda folder: edit_description(folder, format="something else"),
        lambda folder: edit_description(folder, arrays={}),
        truncate,
        misdirect,
    ],
)
@pytest.mark.parametrize("has_digests", [True, False])
def test_a_damaged_folder_is_refused_by_name(tmp_path, damage, has_digests):
    make_pool(20).save(tmp_path / "pool")
    if not has_digests:
        (tmp_path / "pool" / "SHA256SUMS").unlink()
    damage(tmp_path / "pool")
    with pytest.raises(BadPoolFolder, match="save the pool again"):
        Pool.load(tmp_path / "pool")


def flip_a_bit(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def names_of_saved_files():
    with tempfile.TemporaryDirectory() as folder:
        make_pool(20).save(Path(folder) / "pool")
        return sorted(path.name for path in (Path(folder) / "pool").iterdir())


@pytest.mark.parametrize("name", names_of_saved_files())
def test_a_flipped_bit_is_noticed_in_every_file(tmp_path, name):
    make_pool(20).save(tmp_path / "pool")
    flip_a_bit(tmp_path / "pool" / name, -9)
    with pytest.raises(BadPoolFolder):
        Pool.load(tmp_path / "pool")


def test_a_pool_of_an_earlier_release_has_no_digests_and_loads_as_before(tmp_path):
    pool = make_pool(20)
    pool.save(tmp_path / "pool")
    (tmp_path / "pool" / "SHA256SUMS").unlink()
    flip_a_bit(tmp_path / "pool" / "target.npy", -9)
    assert Pool.load(tmp_path / "pool").n == pool.n


def test_the_digests_are_those_of_sha256sum(tmp_path):
    make_pool(20).save(tmp_path / "pool")
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "pool", check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert checked.stdout.count(": OK") == len(names_of_saved_files()) - 1


def test_a_missing_folder_is_refused_by_name(tmp_path):
    with pytest.raises(BadPoolFolder):
        Pool.load(tmp_path / "nowhere")


def test_a_pool_beyond_the_inverse_is_saved_without_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pool_file, "INVERSE_LIMIT", 10)
    pool = make_pool(20)
    pool.save(tmp_path / "pool")
    assert not (tmp_path / "pool" / "inverse.npy").exists()
    with pytest.raises(PoolTooLarge):
        _ = Pool.load(tmp_path / "pool").inverse


def test_the_engine_needs_no_django():
    code = (
        "import sys, teaching.engine; assert not any(m.startswith('django') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_given_path_graph_is_kept_as_it_is():
    np.testing.assert_array_equal(
        make_pool(6, affinity=path_graph(6)).affinity.toarray(), path_graph(6)
    )
