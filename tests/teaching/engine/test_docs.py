"""What the library guide shows runs as it stands."""

import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from teaching.engine import Shown, teachers
from tests.teaching.engine.builders import make_pool, random_history

GUIDE = Path(__file__).parents[3] / "docs" / "engine.md"


def snippets():
    text = GUIDE.read_text(encoding="utf-8")
    return [
        textwrap.dedent(found)
        for found in re.findall(r"^ *```python\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    ]


def test_the_example_session_of_the_guide_runs():
    names = {}
    exec(snippets()[0], names)
    assert len(names["history"]) == 30
    assert all(isinstance(step, Shown) for step in names["history"])


def test_the_simulated_worker_of_the_guide_learns():
    names = {}
    exec(snippets()[1], names)
    assert sorted(names["order"]) == ["boat", "drum", "key", "leaf", "tent"]
    assert names["order"] != ["key", "boat", "tent", "leaf", "drum"]
    assert names["after"] > names["before"]


def test_the_other_teacher_of_the_guide_teaches(monkeypatch):
    module = ModuleType(f"{teachers.__name__}.hardest")
    module.__package__ = teachers.__name__
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(snippets()[2], module.__dict__)
    monkeypatch.setitem(teachers.TEACHERS, "hardest", module.Hardest)
    pool, history = make_pool(30), random_history(30, 9)
    choice = teachers.make_teacher("hardest").choose(pool, history, np.random.default_rng(0))
    assert choice.example != history[-1].example
    assert choice.score == pytest.approx(1 - choice.f)
