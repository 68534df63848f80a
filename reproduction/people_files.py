"""Trial-by-trial data of people who learned to classify, as docs/data-formats.md describes the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from teaching.engine.arrays import BoolArray, FloatArray, IntArray
from teaching.engine.classes import MOST_CLASSES

from .experiment import BadExperiment
from .people_csv import MISSING, Row, read_rows

ITEMS, TRIALS, MEMORY = "items.csv", "trials.csv", "memory.csv"
COLUMNS = ("person", "task", "trial", "item", "label", "answer", "is_taught")
RESPONSE = "response_ms"
# Up to this many features each is measured in units of its own standard deviation. More of them come from a network or
# an analysis of components, whose scales say which count.
FEW_FEATURES = 12
TOLD = {"1": True, "true": True, "0": False, "false": False}
# A folder's name is part of the names of the report's files, of which no file system takes more than 255 bytes.
LONGEST_NAME = 200


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
    name = _name(folder)
    places, features = _items(folder / ITEMS)
    rows = read_rows(folder / TRIALS, COLUMNS)
    _check_times(rows)
    classes = _classes(folder / TRIALS, rows)
    tasks = _tasks(rows)
    data = PeopleSet(
        name=name,
        features=standardised(features),
        classes=classes,
        sessions=[_session(own, places, classes) for own in tasks.values()],
        memory=_memory(folder / MEMORY, {person for person, _ in tasks}),
    )
    _check_pools(data, tasks.values(), {row["label"]: row.line for row in reversed(rows)})
    return data


def standardised(features: FloatArray) -> FloatArray:
    """Centred, and of one scale each where they are few; without a look at labels or answers."""
    axis = 0 if features.shape[1] <= FEW_FEATURES else None
    # The mean of equal numbers is not always that number: constants would leave something behind.
    near_one = _near_one(np.where(_is_constant(features), 0.0, features), axis)
    centred = _near_one(near_one - near_one.mean(axis=0), axis)
    deviations = centred.std(axis=0)
    scales = deviations if axis == 0 else np.sqrt((deviations**2).mean())
    return np.asarray(centred / np.where(scales > 0, scales, 1.0))


def _near_one(features: FloatArray, axis: int | None) -> FloatArray:
    """Scaled by powers of two, which costs no digit, so that no square overflows or vanishes."""
    _, exponents = np.frexp(np.abs(features).max(axis=axis))
    return np.asarray(np.ldexp(features, -exponents))


def _is_constant(features: FloatArray) -> BoolArray:
    return np.asarray((features == features[0]).all(axis=0))


def _name(folder: Path) -> str:
    if not folder.is_dir():
        raise BadExperiment(f"{folder} is not a folder; name one with {ITEMS} and {TRIALS}.")
    name = folder.resolve().name
    if len(os.fsencode(name)) > LONGEST_NAME:
        raise BadExperiment(
            f"{folder} has too long a name for the files of the report; shorten it to {LONGEST_NAME} bytes."
        )
    return name


def _items(path: Path) -> tuple[dict[str, int], FloatArray]:
    """The place of every item by its name, and the features (n, d)."""
    rows = read_rows(path, ("item",))
    columns = [name for name in rows[0].values if name != "item"] if rows else []
    if not columns:
        raise BadExperiment(f"{path} needs items, and columns of features beside `item`.")
    remedy = f"every column of {ITEMS} but `item` is a feature, a number like -1.5"
    features = np.array([[row.number(name, remedy) for name in columns] for row in rows])
    if _is_constant(features).all():
        raise BadExperiment(
            f"{path} has the same features in every line; the models know items by what differs between them."
        )
    return {name: place for place, name in enumerate(_once(rows, "item"))}, features


def _once(rows: Iterable[Row], column: str) -> dict[str, Row]:
    """The rows by a column that has another value in every line."""
    found: dict[str, Row] = {}
    for row in rows:
        if found.setdefault(row[column], row) is not row:
            raise row.wrong(f"there is the {column} {row[column]!r} twice; give it one line.")
    return found


def _classes(path: Path, rows: Sequence[Row]) -> list[str]:
    """The labels by name. Every answer is one of them."""
    if not rows:
        raise BadExperiment(f"{path} has no trials.")
    classes = _class_names({row["label"] for row in rows})
    if not 2 <= len(classes) <= MOST_CLASSES:
        raise BadExperiment(
            f"The number of different labels in {path} is {len(classes)}; the models take 2 to {MOST_CLASSES} classes."
        )
    for row in rows:
        if row["answer"] not in classes:
            raise row.wrong(
                f"the answer {row['answer']!r} is none of the labels ({', '.join(classes)}); "
                "correct it or leave the line out."
            )
    return classes


def _check_times(rows: Iterable[Row]) -> None:
    """No model reads response times yet; a file whose columns are mixed up shows here."""
    remedy = "write milliseconds like 1250, or nothing if the time is not known"
    for row in rows:
        told = row.values.get(RESPONSE, "")
        if told not in MISSING and row.number(RESPONSE, remedy) < 0:
            raise row.wrong(f"{RESPONSE} is {told}, below 0; {remedy}.")


def _tasks(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows of every person in every task, as the file has them."""
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tasks.setdefault((row["person"], row["task"]), []).append(row)
    return tasks


def _session(
    rows: Sequence[Row], places: Mapping[str, int], classes: Sequence[str]
) -> PersonSession:
    """One person in one task, in the order of the trials."""
    _check_labels(rows)
    order = _ordered(rows)
    session = PersonSession(
        person=rows[0]["person"],
        task=rows[0]["task"],
        items=np.array([_place(row, places) for row in order]),
        labels=np.array([classes.index(row["label"]) for row in order]),
        answers=np.array([classes.index(row["answer"]) for row in order]),
        is_taught=np.array([_truth(row) for row in order]),
    )
    if not session.is_taught.any():
        raise rows[0].wrong(
            f"{_who(rows[0])} was told nothing (is_taught is 0 in all trials); leave this task out."
        )
    return session


def _ordered(rows: Sequence[Row]) -> list[Row]:
    times: dict[float, Row] = {}
    for row in rows:
        if times.setdefault(row.number("trial", "number trials 1, 2, 3 and so on"), row) is not row:
            raise row.wrong(
                f"{_who(row)} has this trial number twice; number them 1, 2, 3 and so on."
            )
    return [times[time] for time in sorted(times)]


def _check_labels(rows: Sequence[Row]) -> None:
    """An item has one label in a task: the pool that the models know has one."""
    first: dict[str, Row] = {}
    for row in rows:
        known = first.setdefault(row["item"], row)
        if known["label"] != row["label"]:
            raise row.wrong(
                f"{_who(row)} has the item {row['item']!r} with the label {row['label']!r}, and in line {known.line} "
                f"with {known['label']!r}; correct it, or begin another task where labels change."
            )


def _check_pools(data: PeopleSet, tasks: Iterable[Sequence[Row]], lines: Mapping[str, int]) -> None:
    """Where labels differ between tasks, a task has only its own items, and needs some of every class."""
    if data.shared_labels is not None:
        return
    for session, rows in zip(data.sessions, tasks, strict=True):
        labels = set(session.labels.tolist())
        absent = [name for number, name in enumerate(data.classes) if number not in labels]
        if absent:
            raise rows[0].wrong(
                f"{_who(rows[0])} has no item with the label {absent[0]!r} of line {lines[absent[0]]}, and labels "
                "differ between tasks; correct the label, leave this task out, or put tasks with other classes into "
                "a folder of their own."
            )


def _place(row: Row, places: Mapping[str, int]) -> int:
    if row["item"] not in places:
        raise row.wrong(
            f"the item {row['item']!r} is not in {ITEMS}; add it there or correct its name."
        )
    return places[row["item"]]


def _who(row: Row) -> str:
    return f"person {row['person']!r} in task {row['task']!r}"


def _memory(path: Path, people: set[str]) -> dict[str, float]:
    """Each person's memory score, where there is a file of them."""
    if not path.exists():
        return {}
    rows = _once(read_rows(path, ("person", "memory")), "person")
    if rows and people.isdisjoint(rows):
        raise BadExperiment(
            f"{path} has nobody of {TRIALS}; write the same codes of people in both."
        )
    remedy = "write one like 0.5 or leave the line out"
    return {person: row.number("memory", remedy) for person, row in rows.items()}


def _class_names(found: set[str]) -> list[str]:
    """In the order of their numbers, or of the alphabet if they are words: the same in every process."""
    names = sorted(found)
    try:
        return sorted(names, key=float)
    except ValueError:
        return names


def _truth(row: Row) -> bool:
    told = TOLD.get(row["is_taught"].lower())
    if told is None:
        raise row.wrong(f"is_taught is {row['is_taught']!r}; write 1 or 0.")
    return told
