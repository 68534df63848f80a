"""The table of teachers: complete, and read by everybody who names one."""

import re
from pathlib import Path

import pytest

from analysis.results.page import reference_of
from teaching.engine import TEACHERS
from teaching.teachers import known_teachers, teacher_title

ROOT = Path(__file__).resolve().parents[2]
# Experiments and benchmarks choose teachers; models, commands and examples have a default to name.
EXEMPT = ("teaching/engine/teachers/", "research/", "bench/", "tests/", "desk/api/examples.py")


@pytest.mark.parametrize("name", TEACHERS)
def test_every_teacher_says_what_others_need(name):
    teacher = TEACHERS[name]
    assert teacher.name == name
    assert teacher.title == teacher.title.strip() != ""
    assert re.fullmatch(r"[A-Z].{30,}\.", teacher.description)


def test_titles_and_descriptions_are_the_teachers_own():
    """One that extends another must not go by its title."""
    for what in ("title", "description"):
        assert len({getattr(teacher, what) for teacher in TEACHERS.values()}) == len(TEACHERS)
        assert all(what in vars(teacher) for teacher in TEACHERS.values())


def test_titles_are_those_that_people_know():
    titles = [teacher_title(name) for name in known_teachers()]
    assert titles == ["JEDI", "IMT", "EER", "RT", "Tracked"]


def test_a_name_that_no_teacher_has_is_its_own_title():
    assert teacher_title("mixed") == "mixed"
    assert teacher_title("") == ""


def test_only_jedi_teaches_by_the_memory_and_is_the_reference():
    for what in ("length_follows_memory", "is_reference"):
        assert [name for name in TEACHERS if getattr(TEACHERS[name], what)] == ["jedi"]


@pytest.mark.parametrize(
    ("arms", "reference"),
    [(["rt", "jedi"], "jedi"), (["rt", "imt"], "rt"), (["mixed", "rt"], "mixed"), ([], None)],
)
def test_the_reference_is_the_first_arm_where_no_teacher_is_meant_for_it(arms, reference):
    assert reference_of(arms) == reference


def test_no_other_code_names_a_teacher():
    names = re.compile("|".join(f'"{name}"' for name in TEACHERS))
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in ROOT.glob("*/__init__.py")
        for path in package.parent.rglob("*.py")
        if not str(path.relative_to(ROOT)).startswith(EXEMPT)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if names.search(line)
    ]
    assert found == []
