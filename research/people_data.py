"""Trial-by-trial data of people who learned to classify, read from CSV files as in docs/data-formats.md.

Reading is strict: errors name the file, the line and the remedy.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from teaching.engine.arrays import BoolArray, FloatArray, IntArray
from teaching.engine.classes import MAX_CLASSES

from .experiment import BadExperiment

ITEMS, TRIALS, MEMORY = "items.csv", "trials.csv", "memory.csv"
COLUMNS = ("person", "task", "trial", "item", "label", "answer", "is_taught")
RESPONSE = "response_ms"
# Up to this many features are divided by their standard deviations. More of them come from a network or a principal
# component analysis, where the scale of a feature tells its importance.
FEW_FEATURES = 12
TOLD = {"1": True, "true": True, "0": False, "false": False}
# The folder's name is part of the names of the report's files, which may have 255 bytes.
MAX_NAME_BYTES = 200

# Missing values as pandas, NumPy and R write them.
MISSING = ("", "nan", "NaN", "NA")
# How much of a wrong first line an error shows.
SHOWN = 60


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
        """The label of every item, unless labels differ between tasks."""
        labels: dict[int, int] = {}
        for session in self.sessions:
            for item, label in zip(session.items.tolist(), session.labels.tolist(), strict=True):
                if labels.setdefault(item, label) != label:
                    return None
        return labels

    def labels_for(self, session: PersonSession) -> dict[int, int]:
        """The labels of the items in a person's pool: the shared ones, or those of the person's own task."""
        if self.shared_labels is not None:
            return self.shared_labels
        return dict(zip(session.items.tolist(), session.labels.tolist(), strict=True))


def read_people(folder: Path) -> PeopleSet:
    """Read and check a folder."""
    if not folder.is_dir():
        raise BadExperiment(f"{folder} is not a folder; name one with {ITEMS} and {TRIALS}.")
    name = folder.resolve().name
    if len(os.fsencode(name)) > MAX_NAME_BYTES:
        raise BadExperiment(
            f"{folder} has too long a name for the files of the report; shorten it to {MAX_NAME_BYTES} bytes."
        )
    places, features = _items(folder / ITEMS)
    rows = read_rows(folder / TRIALS, COLUMNS)
    # No model reads response times, but wrong ones reveal mixed-up columns.
    remedy = "write milliseconds like 1250, or nothing if the time is not known"
    for row in rows:
        time = row.values.get(RESPONSE, "")
        if time not in MISSING and row.number(RESPONSE, remedy) < 0:
            raise row.wrong(f"{RESPONSE} is {time}, below 0; {remedy}.")
    classes = _classes(folder / TRIALS, rows)
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tasks.setdefault((row["person"], row["task"]), []).append(row)
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
    """Centre the features and, if they are few, divide each by its standard deviation."""
    axis = 0 if features.shape[1] <= FEW_FEATURES else None
    # The floating-point mean of equal numbers may differ from them, so constants are zeroed first.
    near_one = _near_one(np.where(_is_constant(features), 0.0, features), axis)
    centred = _near_one(near_one - near_one.mean(axis=0), axis)
    deviations = centred.std(axis=0)
    scales = deviations if axis == 0 else np.sqrt((deviations**2).mean())
    return np.asarray(centred / np.where(scales > 0, scales, 1.0))


def _near_one(features: FloatArray, axis: int | None) -> FloatArray:
    """Scale by powers of two, which is exact, so that no square overflows or underflows."""
    _, exponents = np.frexp(np.abs(features).max(axis=axis))
    return np.asarray(np.ldexp(features, -exponents))


def _is_constant(features: FloatArray) -> BoolArray:
    return np.asarray((features == features[0]).all(axis=0))


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
    """The rows by a column whose values are unique."""
    found: dict[str, Row] = {}
    for row in rows:
        if found.setdefault(row[column], row) is not row:
            raise row.wrong(f"there is the {column} {row[column]!r} twice; give it one line.")
    return found


def _classes(path: Path, rows: Sequence[Row]) -> list[str]:
    """The labels by name. Every answer is one of them."""
    if not rows:
        raise BadExperiment(f"{path} has no trials.")
    # In numerical order, or in alphabetical order if they are words: the same in every process.
    classes = sorted({row["label"] for row in rows})
    with suppress(ValueError):
        classes = sorted(classes, key=float)
    if not 2 <= len(classes) <= MAX_CLASSES:
        raise BadExperiment(
            f"The number of different labels in {path} is {len(classes)}; the models take 2 to {MAX_CLASSES} classes."
        )
    for row in rows:
        if row["answer"] not in classes:
            raise row.wrong(
                f"the answer {row['answer']!r} is none of the labels ({', '.join(classes)}); "
                "correct it or leave the line out."
            )
    return classes


def _session(
    rows: Sequence[Row], places: Mapping[str, int], classes: Sequence[str]
) -> PersonSession:
    """One person in one task, in the order of the trials."""
    first: dict[str, Row] = {}
    trials: dict[float, Row] = {}
    told: dict[float, bool] = {}
    for row in rows:
        # An item has one label in a task, because the pool has one.
        known = first.setdefault(row["item"], row)
        if known["label"] != row["label"]:
            raise row.wrong(
                f"{_who(row)} has the item {row['item']!r} with the label {row['label']!r}, and in line {known.line} "
                f"with {known['label']!r}; correct it, or begin another task where labels change."
            )
    for row in rows:
        number = row.number("trial", "number trials 1, 2, 3 and so on")
        if trials.setdefault(number, row) is not row:
            raise row.wrong(
                f"{_who(row)} has this trial number twice; number them 1, 2, 3 and so on."
            )
    for number, row in sorted(trials.items()):
        if row["item"] not in places:
            raise row.wrong(
                f"the item {row['item']!r} is not in {ITEMS}; add it there or correct its name."
            )
        if row["is_taught"].lower() not in TOLD:
            raise row.wrong(f"is_taught is {row['is_taught']!r}; write 1 or 0.")
        told[number] = TOLD[row["is_taught"].lower()]
    if not any(told.values()):
        raise rows[0].wrong(
            f"{_who(rows[0])} was told nothing (is_taught is 0 in all trials); leave this task out."
        )
    order = [trials[number] for number in told]
    return PersonSession(
        person=rows[0]["person"],
        task=rows[0]["task"],
        items=np.array([places[row["item"]] for row in order]),
        labels=np.array([classes.index(row["label"]) for row in order]),
        answers=np.array([classes.index(row["answer"]) for row in order]),
        is_taught=np.array(list(told.values())),
    )


def _check_pools(data: PeopleSet, tasks: Iterable[Sequence[Row]], lines: Mapping[str, int]) -> None:
    """If labels differ between tasks, a task has only its own items, and needs some of every class."""
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


def _who(row: Row) -> str:
    return f"person {row['person']!r} in task {row['task']!r}"


def _memory(path: Path, people: set[str]) -> dict[str, float]:
    """Each person's memory score, if there is a file."""
    if not path.exists():
        return {}
    rows = _once(read_rows(path, ("person", "memory")), "person")
    if rows and people.isdisjoint(rows):
        raise BadExperiment(
            f"{path} has nobody of {TRIALS}; write the same codes of people in both."
        )
    remedy = "write one like 0.5 or leave the line out"
    return {person: row.number("memory", remedy) for person, row in rows.items()}


# CSV files


@dataclass(frozen=True, slots=True)
class Row:
    """One line: its values by column, stripped."""

    path: Path
    line: int
    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def wrong(self, complaint: str) -> BadExperiment:
        return BadExperiment(f"{self.path}, line {self.line}: {complaint}")

    def number(self, name: str, remedy: str) -> float:
        """The value of a column as a finite number."""
        try:
            value = float(self[name])
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            raise self.wrong(f"{name} is {self[name]!r}, not a number; {remedy}.")
        return value


def read_rows(path: Path, needed: Sequence[str]) -> list[Row]:
    """All non-blank lines; every needed column has a value in each."""
    records = _records(path)
    line, header = next(records, (1, []))
    _check_header(path, line, header, needed)
    rows = [_row(path, line, header, cells) for line, cells in records]
    for row in rows:
        for name in needed:
            if row[name] in MISSING:
                raise row.wrong(f"{name} is missing; fill it in or leave the line out.")
    return rows


def _row(path: Path, line: int, header: Sequence[str], cells: Sequence[str]) -> Row:
    """Drop columns without a name: a row index, or empty columns of a spreadsheet."""
    if len(cells) != len(header):
        raise BadExperiment(
            f"{path}, line {line}: {len(header)} values are expected, and there are {len(cells)}; "
            "give every column one, and put texts with commas into quotes."
        )
    return Row(path, line, {name: cell for name, cell in zip(header, cells, strict=True) if name})


def _check_header(path: Path, line: int, header: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in header]
    if missing:
        raise BadExperiment(
            f"{path} has no column {', '.join(missing)}: its first line is {','.join(header)[:SHOWN]!r}. Name the "
            "columns there, with commas between them, as docs/data-formats.md has them."
        )
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise BadExperiment(
            f"{path}, line {line}: the column {twice[0]} comes twice; rename one of them."
        )


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The non-blank records, each with the number of its first line."""
    text = io.StringIO(_text(path), newline="")
    reader = csv.reader(text, skipinitialspace=True, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            raise BadExperiment(
                f"{path}, line {line}: this is not CSV ({error}); close every quote, and write quotes in a text twice."
            ) from error
        if any(cells):
            yield line, cells


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadExperiment(
            f"{path} cannot be read: {error.strerror}. docs/data-formats.md says what it holds."
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadExperiment(
            f"{path}, line {line}: this is not text in UTF-8; unpack the file if it is compressed, and save it as CSV "
            "in UTF-8."
        ) from error
