"""Trial-by-trial data of people who learned to classify, as docs/data-formats.md describes the files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from teaching.engine.arrays import BoolArray, FloatArray, IntArray

from .experiment import BadExperiment

ITEMS, TRIALS, MEMORY = "items.csv", "trials.csv", "memory.csv"
COLUMNS = ("person", "task", "trial", "item", "label", "answer", "is_taught")
# Up to this many features each is measured in units of its own standard deviation. More of them come from a network or
# an analysis of components, whose scales say which count.
FEW_FEATURES = 12


@dataclass(frozen=True, eq=False)
class PersonSession:
    """One person in one task: items (t,) by number, labels and answers (t,) as class numbers."""

    person: str
    task: str
    items: IntArray
    labels: IntArray
    answers: IntArray
    is_taught: BoolArray


@dataclass(frozen=True, eq=False)
class PeopleSet:
    """A folder of data: standardised features (n, d), the classes by name, and everybody's sessions."""

    name: str
    features: FloatArray
    classes: Sequence[str]
    sessions: Sequence[PersonSession]
    memory: Mapping[str, float]

    @property
    def people(self) -> int:
        return len({session.person for session in self.sessions})

    @cached_property
    def shared_labels(self) -> dict[int, int] | None:
        """The label of every item that anybody met, if nobody was taught another one."""
        labels: dict[int, int] = {}
        for session in self.sessions:
            for item, label in zip(session.items.tolist(), session.labels.tolist(), strict=True):
                if labels.setdefault(item, label) != label:
                    return None
        return labels

    def labels_for(self, session: PersonSession) -> dict[int, int]:
        """The labels of the items that a person's teacher had: the shared ones, or those of the person's own task."""
        if self.shared_labels is not None:
            return self.shared_labels
        return dict(zip(session.items.tolist(), session.labels.tolist(), strict=True))


def read_people(folder: Path) -> PeopleSet:
    """Read a folder; whatever is wrong with it is named by file and line."""
    names, features = _items(folder / ITEMS)
    rows = list(_rows(folder / TRIALS, COLUMNS))
    if not rows:
        raise BadExperiment(f"{folder / TRIALS} has no trials.")
    classes = _class_names({row[name] for _, row in rows for name in ("label", "answer")})
    if len(classes) < 2:
        raise BadExperiment(f"{folder / TRIALS} has one class only; learning needs two or more.")
    places = {name: place for place, name in enumerate(names)}
    return PeopleSet(
        name=folder.resolve().name,
        features=standardised(features),
        classes=classes,
        sessions=_sessions(folder / TRIALS, rows, places, classes),
        memory=_memory(folder / MEMORY),
    )


def standardised(features: FloatArray) -> FloatArray:
    """Centred, and of one scale each where they are few; without a look at labels or answers."""
    centred = features - features.mean(axis=0)
    deviations = centred.std(axis=0)
    if features.shape[1] > FEW_FEATURES:
        typical = float(np.sqrt((deviations**2).mean()))
        return np.asarray(centred / typical if typical > 0 else centred)
    return np.asarray(centred / np.where(deviations > 0, deviations, 1.0))


def _items(path: Path) -> tuple[list[str], FloatArray]:
    rows = list(_rows(path, ("item",)))
    names = [row["item"] for _, row in rows]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadExperiment(f"{path} has the item {twice!r} twice; give every item one line.")
    columns = [name for name in rows[0][1] if name != "item"] if rows else []
    if not columns:
        raise BadExperiment(f"{path} needs items, and columns of features beside `item`.")
    values = [[_number(path, line, name, row[name]) for name in columns] for line, row in rows]
    return names, np.array(values)


def _sessions(
    path: Path,
    rows: Sequence[tuple[int, dict[str, str]]],
    places: Mapping[str, int],
    classes: Sequence[str],
) -> list[PersonSession]:
    numbers = {name: number for number, name in enumerate(classes)}
    trials: dict[tuple[str, str], list[tuple[float, int, int, int, bool]]] = {}
    for line, row in rows:
        if row["item"] not in places:
            raise BadExperiment(f"{path}, line {line}: the item {row['item']!r} is not in {ITEMS}.")
        trial = (
            _number(path, line, "trial", row["trial"]),
            places[row["item"]],
            numbers[row["label"]],
            numbers[row["answer"]],
            _truth(path, line, row["is_taught"]),
        )
        trials.setdefault((row["person"], row["task"]), []).append(trial)
    return [_session(path, *key, found) for key, found in trials.items()]


def _session(
    path: Path, person: str, task: str, trials: list[tuple[float, int, int, int, bool]]
) -> PersonSession:
    order = sorted(trials, key=lambda one: one[0])
    times = [one[0] for one in order]
    if len(set(times)) < len(times):
        raise BadExperiment(
            f"{path}: person {person!r} has a trial number twice in task {task!r}; number them 1, 2, 3, …"
        )
    _, items, labels, answers, taught = (np.array(column) for column in zip(*order, strict=True))
    return PersonSession(person, task, items, labels, answers, taught)


def _memory(path: Path) -> dict[str, float]:
    """Each person's memory score, where there is a file of them."""
    if not path.exists():
        return {}
    rows = _rows(path, ("person", "memory"))
    return {row["person"]: _number(path, line, "memory", row["memory"]) for line, row in rows}


def _rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a CSV file with their numbers; refuses files without the columns that are needed."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadExperiment(
            f"{path} cannot be read ({error}). See docs/data-formats.md."
        ) from error
    reader = csv.DictReader(text.splitlines())
    missing = [name for name in needed if name not in (reader.fieldnames or ())]
    if missing:
        raise BadExperiment(
            f"{path} has no column {', '.join(missing)}; its first line names the columns. See docs/data-formats.md."
        )
    for row in reader:
        if None in row or None in row.values():
            raise BadExperiment(
                f"{path}, line {reader.line_num}: {len(reader.fieldnames or ())} values are expected."
            )
        empty = [name for name in needed if row[name] == ""]
        if empty:
            raise BadExperiment(f"{path}, line {reader.line_num}: {empty[0]} is empty.")
        yield reader.line_num, row


def _class_names(found: set[str]) -> list[str]:
    """In the order of their numbers, or of the alphabet if they are words."""
    try:
        return sorted(found, key=float)
    except ValueError:
        return sorted(found)


def _number(path: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise BadExperiment(f"{path}, line {line}: {name} is {text!r}, not a number.")
    return value


def _truth(path: Path, line: int, text: str) -> bool:
    if text not in ("0", "1"):
        raise BadExperiment(f"{path}, line {line}: is_taught is {text!r}; write 1 or 0.")
    return text == "1"
