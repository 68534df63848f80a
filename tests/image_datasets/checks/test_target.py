"""The target concept and its cross-validation: exact where it can be, honest everywhere."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize

from image_datasets.checks.target import (
    PENALTIES,
    Accuracy,
    accuracy_of_features,
    compare,
    fit_target,
    stratified_folds,
    with_bias,
)
from image_datasets.extractors import deep
from image_datasets.extractors.base import BadDescriptions, Cancelled
from teaching.engine.classes import concept_vector, softmax
from teaching.engine.concept import ridge_logistic


def two_classes(n, distance, seed=0, share=0.5, d=3):
    """Gaussian classes `distance` apart along the first feature, about the mean."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n) < share * n, 1.0, -1.0)
    features = rng.normal(size=(n, d))
    features[:, 0] += labels * distance / 2
    return (features - features.mean(axis=0)) / 2, labels


@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
def test_a_free_bias_is_not_penalised(shape):
    rng = np.random.default_rng(0)
    features = with_bias(rng.normal(size=shape))
    labels = np.where(features[:, 0] + rng.normal(size=shape[0]) > -0.8, 1.0, -1.0)
    ridge = np.append(np.linspace(0.5, 1.5, shape[1]), 0.0)

    def loss(w):
        return np.logaddexp(0, -labels * (features @ w)).sum() + 0.5 * (ridge * w) @ w

    expected = minimize(loss, np.zeros(shape[1] + 1), options={"gtol": 1e-7}).x
    found = concept_vector(ridge_logistic(features, labels, ridge))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_bias_knows_how_frequent_the_classes_are():
    features, labels = two_classes(400, 1.0, share=0.8)
    concept = fit_target(features, labels, 1e-3)
    assert concept.shape == (2, 4)
    said = softmax(with_bias(features) @ concept.T)
    assert said.mean(axis=0) == pytest.approx([0.2, 0.8], abs=1e-6)


def test_the_penalty_is_the_one_with_the_least_held_out_log_loss():
    features, labels = two_classes(60, 1.5, d=20)
    fold = stratified_folds(labels, 3)
    losses = []
    for penalty in PENALTIES:
        total = 0.0
        for number in range(5):
            train = fold != number
            ridge = np.append(np.full(20, penalty * train.sum()), 0)
            w = concept_vector(ridge_logistic(with_bias(features[train]), labels[train], ridge))
            margins = labels[~train] * (with_bias(features[~train]) @ w)
            total += np.log(1 + np.exp(-margins)).sum()
        losses.append(total / 60)
    accuracy = accuracy_of_features(features, labels, seed=3)
    np.testing.assert_allclose(accuracy.log_losses, losses)
    assert accuracy.penalty == PENALTIES[int(np.argmin(losses))]
    assert PENALTIES[0] < accuracy.penalty


def test_no_fold_chooses_its_own_penalty():
    features, labels = two_classes(60, 1.0, d=20)
    accuracy = accuracy_of_features(features, labels, seed=1)
    fold = stratified_folds(labels, 1)
    for number in range(5):
        mine = fold == number
        train = ~mine
        margins = []
        for penalty in PENALTIES:
            scores = np.empty(60)
            for other in range(5):
                rest = fold != other
                ridge = np.append(np.full(20, penalty * rest.sum()), 0)
                w = concept_vector(ridge_logistic(with_bias(features[rest]), labels[rest], ridge))
                scores[~rest] = with_bias(features[~rest]) @ w
            margins.append(scores)
        best = min(margins, key=lambda s: np.logaddexp(0, -labels[train] * s[train]).sum())
        expected = 1 / (1 + np.exp(-best[mine]))
        np.testing.assert_allclose(accuracy.probabilities[mine, 1], expected)


def test_probabilities_mean_what_they_say():
    features, labels = two_classes(2000, 1.5)
    p = accuracy_of_features(features, labels).probabilities[:, 1]
    for low, high in [(0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9)]:
        among = (p >= low) & (p < high)
        assert np.mean(labels[among] > 0) == pytest.approx(p[among].mean(), abs=0.07)


def test_separable_classes_keep_a_concept_of_moderate_length():
    features, labels = two_classes(80, 40.0)
    features /= np.linalg.norm(features, axis=1).mean()
    penalty = accuracy_of_features(features, labels).penalty
    assert 5 < np.linalg.norm(fit_target(features, labels, penalty)) < 50


def test_the_confusion_counts_every_example_once():
    features, labels = two_classes(90, 1.0, share=0.3)
    accuracy = accuracy_of_features(features, labels)
    (true_negative, false_positive), (false_negative, true_positive) = accuracy.confusion
    assert true_negative + false_positive == 63
    assert false_negative + true_positive == 27
    assert (true_negative + true_positive) / 90 == pytest.approx(accuracy.mean)
    assert false_positive == np.sum((accuracy.probabilities[:, 1] >= 0.5) & (labels < 0))
    assert len(accuracy.folds) == 5


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 3)
    features = rng.normal(size=(n, 4))
    features[np.arange(n), labels] += 1.5
    return (features - features.mean(axis=0)) / 2, labels


def test_the_accuracy_of_three_classes_is_that_of_a_literal_loop():
    features, labels = three_classes()
    accuracy = accuracy_of_features(features, labels, seed=2)
    fold = stratified_folds(labels, 2)
    losses, said = np.zeros((len(PENALTIES), 150)), np.zeros((len(PENALTIES), 150, 3))
    for row, penalty in enumerate(PENALTIES):
        for number in range(5):
            train = fold != number
            concept = fit_target(features[train], labels[train], penalty)
            for i in np.flatnonzero(~train):
                powers = np.exp(concept @ np.append(features[i], 1))
                said[row, i] = powers / powers.sum()
                losses[row, i] = -np.log(said[row, i, labels[i]])
    chosen = np.array(
        [said[losses[:, fold != fold[i]].sum(axis=1).argmin(), i] for i in range(150)]
    )
    np.testing.assert_allclose(accuracy.probabilities, chosen)
    assert accuracy.mean == np.mean(chosen.argmax(axis=1) == labels)
    assert accuracy.log_losses == pytest.approx(losses.mean(axis=1).tolist())
    counts = [
        [sum((labels == a) & (chosen.argmax(axis=1) == b)) for b in range(3)] for a in range(3)
    ]
    assert [list(row) for row in accuracy.confusion] == counts


def test_other_numbers_for_the_classes_change_nothing_but_their_numbers():
    features, labels = three_classes()
    renumbered = np.array([2, 0, 1])[labels]
    one = fit_target(features, labels, 0.01)
    other = fit_target(features, renumbered, 0.01)
    np.testing.assert_allclose(other[[2, 0, 1]], one, atol=1e-8)


def test_the_same_seed_gives_the_same_accuracy():
    features, labels = two_classes(60, 1.0)
    first, second = (accuracy_of_features(features, labels, seed=4).as_json() for _ in range(2))
    assert first == second
    assert first != accuracy_of_features(features, labels, seed=5).as_json()


def test_perfect_accuracy_still_has_an_interval():
    features, labels = two_classes(60, 60.0)
    accuracy = accuracy_of_features(features, labels)
    assert accuracy.mean == accuracy.high == 1
    assert accuracy.low == pytest.approx(60 / (60 + 1.96**2), abs=1e-3)


def test_folds_have_their_share_of_both_classes():
    labels = np.repeat([-1.0, 1.0], [43, 17])
    fold = stratified_folds(labels, 0)
    for label, count in ((-1, 43), (1, 17)):
        assert set(np.bincount(fold[labels == label])) <= {count // 5, count // 5 + 1}


def test_a_small_class_makes_fewer_folds():
    assert stratified_folds(np.repeat([-1.0, 1.0], [10, 3]), 0).max() == 2
    with pytest.raises(BadDescriptions, match="add images"):
        stratified_folds(np.repeat([-1.0, 1.0], [10, 1]), 0)


def test_the_most_accurate_extractor_is_the_default():
    features, labels = two_classes(60, 1.0)
    descriptions = {"brought": features, "deep": np.random.default_rng(0).random((60, 1280))}
    comparison = compare(descriptions, labels)
    assert [candidate.name for candidate in comparison.candidates] == ["deep", "brought"]
    assert comparison.best() == "brought"
    assert all(candidate.accuracy for candidate in comparison.candidates)


def test_a_missing_extra_is_in_the_comparison_with_its_remedy(monkeypatch):
    monkeypatch.setattr(deep, "weights_file", lambda: None)
    features, labels = two_classes(30, 2.0)
    comparison = compare({"brought": features}, labels)
    missing = comparison.candidates[0]
    assert (missing.name, missing.accuracy) == ("deep", None)
    assert "make deep" in missing.missing
    assert comparison.best() == "brought"


def test_a_comparison_reports_progress_and_can_be_cancelled():
    features, labels = two_classes(30, 2.0)
    seen = []
    compare({"brought": features}, labels, progress=lambda *step: seen.append(step))
    assert seen[-1] == ("cross-validate brought", 1.0)
    with pytest.raises(Cancelled):
        compare({"brought": features}, labels, cancelled=lambda: True)


def test_an_accuracy_comes_back_from_its_file():
    features, labels = two_classes(30, 1.0)
    accuracy = accuracy_of_features(features, labels, with_similarity=True)
    again = Accuracy.from_json(json.loads(json.dumps(accuracy.as_json())))
    assert again.likeness == accuracy.likeness
    assert again.confusion == accuracy.confusion
    assert (again.right(labels) == accuracy.right(labels)).all()


def test_a_comparison_of_nothing_is_refused():
    with pytest.raises(BadDescriptions, match="describe the images first"):
        _ = compare({}, [-1, 1]).best()
