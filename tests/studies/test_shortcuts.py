"""Shortcuts are judged against what the concept achieves, by one rule for data sets of every age."""

import pytest

from studies.models import Dataset
from studies.shortcuts import is_shortcut, shortcut_warnings, shortcuts_of


def cue(name, mean, low, high):
    return {"name": name, "title": f"the {name}", "mean": mean, "low": low, "high": high}


def searched(*each, concept, together, counts=(150, 150)):
    """A data set with these numbers, as an import of any age has left them."""
    shortcuts = {"together": together, "each": list(each), "chance": 0.5, "warnings": []}
    accuracy = {"mean": concept, "low": concept - 0.05, "high": concept + 0.05}
    return Dataset(insight={"shortcuts": shortcuts, "accuracy": accuracy, "counts": list(counts)})


ALL = cue("together", 0.65, 0.60, 0.71) | {"title": "all cues together"}


@pytest.mark.parametrize(
    ("mean", "low", "concept", "expected"),
    [
        (0.65, 0.60, 0.71, True),  # 15 of 21 points
        (0.65, 0.60, 0.98, False),  # 15 of 48 points
        (0.70, 0.65, 0.98, True),  # surely ten points
        (0.58, 0.52, 0.60, False),  # most of the concept's lead, but perhaps luck
        (0.60, 0.54, 0.50, True),  # the concept itself achieves nothing
    ],
)
def test_a_cue_is_judged_against_guessing_and_against_the_concept(mean, low, concept, expected):
    assert is_shortcut(mean, low, concept, chance=0.5, n=300) is expected


def test_all_cues_together_are_named_when_no_single_one_is_a_shortcut():
    dataset = searched(cue("border", 0.58, 0.53, 0.64), concept=0.71, together=ALL)
    (warning,) = shortcut_warnings(dataset)
    assert warning.startswith(
        "All cues together alone tell the class of 65 % of the images (60 % to 71 %)"
    )
    assert "71 % of the target concept’s lead over guessing" in warning


def test_a_single_shortcut_is_named_with_its_remedy():
    dataset = searched(cue("border", 0.64, 0.58, 0.69), concept=0.71, together=ALL)
    (warning,) = shortcut_warnings(dataset)
    assert warning.startswith("The border alone tells the class of 64 % of the images")
    assert "crop the images" in warning


def test_a_strong_concept_makes_the_same_cues_harmless():
    assert shortcut_warnings(searched(concept=0.98, together=ALL)) == []


def test_a_data_set_that_nobody_searched_has_no_verdict():
    assert shortcuts_of(Dataset(insight={})) is None
    assert shortcut_warnings(Dataset(insight={})) == []
