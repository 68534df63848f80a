"""Who teaches and who tests: balanced, repeatable, and never the same picture on both sides."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from image_datasets.errors import BadSplit, DuplicatesAcrossSplit
from image_datasets.imports.split import MIN_TEACHING_PER_CLASS, split_as_given, split_by_seed


def data(cats, dogs):
    labels = ["cat"] * cats + ["dog"] * dogs
    return labels, [f"{label}/{place}.png" for place, label in enumerate(labels)]


def sizes(labels, places):
    return dict(Counter(labels[place] for place in places))


@st.composite
def grouped_data(draw):
    """Labels of two to five classes and some disjoint groups of duplicates."""
    classes = draw(st.lists(st.integers(20, 150), min_size=2, max_size=5))
    labels = [f"class {number}" for number, count in enumerate(classes) for _ in range(count)]
    names = [f"{label}/{place}.png" for place, label in enumerate(labels)]
    order = draw(st.permutations(range(len(labels))))
    cuts = draw(st.lists(st.integers(2, 5), max_size=5))
    groups, start = [], 0
    for size in cuts:
        groups.append(tuple(sorted(order[start : start + size])))
        start += size
    return labels, names, groups


@given(grouped_data(), st.integers(0, 2**63 - 1))
@settings(max_examples=60, deadline=None)
def test_the_split_is_a_partition_that_keeps_copies_together(drawn, seed):
    labels, names, groups = drawn
    split = split_by_seed(labels, names, seed=seed, groups=groups)
    assert sorted(split.teaching + split.evaluation) == list(range(len(labels)))
    for group in groups:
        assert len(set(group) & set(split.evaluation)) in {0, len(group)}
    assert split == split_by_seed(labels, names, seed=seed, groups=groups)
    mixed = {group for group in groups if len({labels[place] for place in group}) > 1}
    assert set(split.mixed_groups) == mixed
    assert not {place for group in mixed for place in group} & set(split.evaluation)


@given(grouped_data(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_all_classes_are_equally_many_in_the_evaluation_set(drawn, seed):
    labels, names, groups = drawn
    counts = sizes(labels, split_by_seed(labels, names, seed=seed, groups=groups).evaluation)
    wanted = min(50, *(count // 2 for count in Counter(labels).values()))
    assert set(counts) == set(labels)
    (count,) = set(counts.values())
    assert count <= wanted
    alone = set(range(len(labels))) - {place for group in groups for place in group}
    if min(sizes(labels, alone).values()) >= wanted:
        assert count == wanted


@given(st.integers(0, 2**32), st.data())
@settings(max_examples=40, deadline=None)
def test_a_given_split_is_kept_but_for_copies(seed, drawn):
    labels, names = data(30, 30)
    sides = drawn.draw(
        st.lists(st.sampled_from(["teaching", "evaluation"]), min_size=50, max_size=50)
    )
    sides = ["teaching"] * 5 + sides + ["teaching"] * 5
    sides[6], sides[50] = "evaluation", "evaluation"
    split = split_as_given(sides, labels, names, seed=seed, groups=[(0, 10), (20, 21)])
    assert sorted(split.teaching + split.evaluation) == list(range(60))
    changed = {place for place in split.teaching if sides[place] == "evaluation"}
    assert changed == set(split.moved) <= {10, 20, 21}
    assert not [place for place in split.evaluation if sides[place] == "teaching"]


def test_fifty_of_each_test_and_all_others_teach():
    labels, names = data(300, 280)
    split = split_by_seed(labels, names, seed=1)
    assert sizes(labels, split.evaluation) == {"cat": 50, "dog": 50}
    assert sizes(labels, split.teaching) == {"cat": 250, "dog": 230}


def test_a_small_set_is_halved_by_its_smaller_class():
    labels, names = data(90, 41)
    split = split_by_seed(labels, names, seed=1)
    assert sizes(labels, split.evaluation) == {"cat": 20, "dog": 20}


def test_the_size_can_be_asked_for():
    labels, names = data(60, 60)
    split = split_by_seed(labels, names, seed=1, evaluation_per_class=55)
    assert sizes(labels, split.teaching) == {"cat": 5, "dog": 5}


@pytest.mark.parametrize("asked", [0, 56])
def test_a_size_that_cannot_be_had_is_refused_with_numbers(asked):
    labels, names = data(60, 70)
    with pytest.raises(BadSplit, match=f"{asked} images of each class.*“cat” has 60"):
        split_by_seed(labels, names, seed=1, evaluation_per_class=asked)


def test_a_size_that_copies_stand_in_the_way_of_is_refused():
    labels, names = data(20, 20)
    with pytest.raises(BadSplit, match="stay together, fewer than 10 images of “cat” are left"):
        split_by_seed(
            labels, names, seed=1, evaluation_per_class=10, groups=[tuple(range(11)), (11, 20)]
        )


def test_copies_test_only_where_single_images_do_not_suffice():
    labels, names = data(100, 100)
    groups = [(place, place + 1) for place in range(0, 50, 2)]
    split = split_by_seed(labels, names, seed=1, groups=groups)
    assert not set(range(50)) & set(split.evaluation)
    split = split_by_seed(labels, names, seed=1, groups=[*groups, (50, 51, 52)])
    assert sizes(labels, split.evaluation) == {"cat": 50, "dog": 50}


def test_another_seed_gives_another_split():
    labels, names = data(100, 100)
    assert split_by_seed(labels, names, seed=1) != split_by_seed(labels, names, seed=2)


def test_the_order_says_nothing_about_the_class():
    labels, names = data(150, 150)
    aucs = []
    for seed in range(60):
        places = split_by_seed(labels, names, seed=seed).evaluation
        is_dog = np.array([labels[place] == "dog" for place in places])
        ranks = np.arange(len(places))
        aucs.append((ranks[is_dog][:, None] > ranks[~is_dog]).mean())
    # Three standard errors of 60 rank AUCs of 50 against 50.
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.023)


def test_copies_across_a_given_split_are_refused_by_name():
    labels, names = data(20, 20)
    sides = ["teaching", "evaluation"] * 20
    with pytest.raises(DuplicatesAcrossSplit) as caught:
        split_as_given(
            sides, labels, names, seed=1, groups=[(0, 1, 2), (4, 6)], refuses_duplicates=True
        )
    assert caught.value.pairs == (
        ("cat/0.png", "cat/1.png"),
        ("cat/1.png", "cat/2.png"),
    )
    assert "cat/0.png and cat/1.png" in str(caught.value)
    assert "keep duplicates together" in caught.value.remedy


def test_copies_across_a_drawn_split_are_refused_too():
    labels, names = data(40, 40)
    groups = [(place, place + 1) for place in range(0, 40, 2)]
    with pytest.raises(DuplicatesAcrossSplit):
        split_by_seed(labels, names, seed=1, groups=groups, refuses_duplicates=True)


def test_copies_on_one_side_are_no_reason_to_refuse():
    labels, names = data(20, 20)
    sides = ["teaching"] * 10 + ["evaluation"] * 10
    split = split_as_given(
        sides * 2, labels, names, seed=1, groups=[(0, 1)], refuses_duplicates=True
    )
    assert split.moved == ()


def test_a_given_split_without_a_class_on_one_side_is_refused():
    labels, names = data(20, 20)
    with pytest.raises(BadSplit, match="evaluation set: It would have 0 images of “dog”"):
        split_as_given(["evaluation"] * 5 + ["teaching"] * 35, labels, names, seed=1)
    few = ["teaching"] * (MIN_TEACHING_PER_CLASS - 1) + ["evaluation"] * 26 + ["teaching"] * 10
    with pytest.raises(BadSplit, match="teaching pool: It would have 4 images of “cat”"):
        split_as_given(few, labels, names, seed=1)


def test_copies_with_different_labels_are_reported():
    labels, names = data(20, 20)
    split = split_by_seed(labels, names, seed=1, groups=[(3, 25), (5, 6)])
    assert split.mixed_groups == ((3, 25),)
    assert {3, 25} <= set(split.teaching)
