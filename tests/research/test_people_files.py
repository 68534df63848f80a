"""Files of people as careful and careless laboratories write them: read alike, or refused with place and remedy."""

import csv
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from research.experiment import BadExperiment
from research.people import People
from research.people_data import read_people, standardised

ROOT = Path(__file__).resolve().parents[2]
ITEMS = """item,height,width
a,1,5
b,2,3
c,3,4
d,4,1
"""
TRIALS = """person,task,trial,item,label,answer,is_taught
p,1,1,a,cat,dog,1
p,1,2,c,dog,dog,1
p,1,3,b,cat,cat,0
q,1,1,d,dog,cat,1
q,1,2,a,cat,cat,1
q,1,3,c,dog,dog,0
"""
MEMORY = """person,memory
p,0.5
q,1
"""


def written(folder, items=ITEMS, trials=TRIALS, memory=MEMORY):
    folder.mkdir()
    for name, content in (("items", items), ("trials", trials), ("memory", memory)):
        in_bytes = content if isinstance(content, bytes) else content.encode()
        (folder / f"{name}.csv").write_bytes(in_bytes)
    return folder


def assert_same(one, two):
    assert list(one.classes) == list(two.classes)
    assert one.memory == two.memory
    np.testing.assert_array_equal(one.features, two.features)
    for mine, other in zip(one.sessions, two.sessions, strict=True):
        assert (mine.person, mine.task) == (other.person, other.task)
        for name in ("items", "labels", "answers", "is_taught"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))


# What is read.


def quoted(text):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(csv.reader(io.StringIO(text)))
    return out.getvalue()


def indexed(text):
    """As pandas writes a table unless it is told otherwise."""
    first, *others = text.splitlines()
    return "\n".join([f",{first}", *(f"{number},{line}" for number, line in enumerate(others))])


SPELLINGS = {
    "a byte-order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "empty lines": lambda text: "\n" + text.replace("\n", "\n\n"),
    "lines of spaces and commas": lambda text: text.replace("\n", "\n  \n,,\n"),
    "spaces around values": lambda text: text.replace(",", " , "),
    "quotes": quoted,
    "quotes after spaces": lambda text: quoted(text).replace(",", ", "),
    "columns without a name": lambda text: text.replace("\n", ",,\n"),
    "an index of the rows": indexed,
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_ways_to_write_the_same_are_read_alike(tmp_path, spelling):
    other = written(tmp_path / "other", *map(spelling, (ITEMS, TRIALS, MEMORY)))
    assert_same(read_people(written(tmp_path / "plain")), read_people(other))


@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_is_taught_may_be_true_or_false(tmp_path, yes, no):
    trials = TRIALS.replace(",1\n", f",{yes}\n").replace(",0\n", f",{no}\n")
    other = read_people(written(tmp_path / "other", trials=trials))
    assert_same(read_people(written(tmp_path / "plain")), other)


def test_trials_are_put_into_order_and_further_columns_do_no_harm(tmp_path):
    first, *lines = TRIALS.splitlines()
    turned = [*reversed(lines[:3]), *reversed(lines[3:])]
    trials = "\n".join([f"{first},response_ms", *(f"{line}," for line in turned)])
    other = read_people(written(tmp_path / "other", trials=trials))
    assert_same(read_people(written(tmp_path / "plain")), other)


@pytest.mark.parametrize(
    "word", ["Grüße, Welt", "日本; 語", 'a "word"', "a\u2028b", "a\nb", "פרפר 🦋"]
)
def test_labels_are_any_words(tmp_path, word):
    in_quotes = '"' + word.replace('"', '""') + '"'
    data = read_people(written(tmp_path / "words", trials=TRIALS.replace("cat", in_quotes)))
    assert set(data.classes) == {word, "dog"}


def test_a_person_without_a_memory_score_and_a_score_without_a_person_do_no_harm(tmp_path):
    data = read_people(written(tmp_path / "people", memory="person,memory\nq,1\nz,3\n"))
    assert "p" not in data.memory
    assert data.memory["q"] == 1


def test_classes_have_the_same_numbers_in_every_process(tmp_path):
    """Also where two of them are the same number, of which a set of words has either first."""
    trials = TRIALS.replace("cat", "01").replace("dog", "1")
    folder = written(tmp_path / "people", trials=trials)
    program = "import sys, pathlib; from research.people_data import read_people; "
    program += "print(*read_people(pathlib.Path(sys.argv[1])).classes)"
    for seed in ("1", "2", "3"):
        told = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.split() == ["01", "1"]


# Features.


@pytest.mark.parametrize("scale", [1e12, 1e-12, 1e300, 1e-300])
@pytest.mark.parametrize("d", [1, 2, 20])
def test_the_unit_of_features_makes_no_difference(d, scale):
    features = np.random.default_rng(d).normal(size=(30, d))
    np.testing.assert_allclose(standardised(features * scale), standardised(features), atol=1e-9)


@pytest.mark.parametrize("constant", [0, 0.1, 1e12 + 0.1, 1e300])
@pytest.mark.parametrize("d", [2, 20])
def test_a_constant_feature_says_nothing_and_disturbs_no_other(d, constant):
    features = np.random.default_rng(d).normal(size=(23, d))
    features[:, 0] = constant
    found = standardised(features)
    assert (found[:, 0] == 0).all()
    typical = np.sqrt((found.std(axis=0) ** 2).sum() / (d if d > 12 else d - 1))
    assert typical == pytest.approx(1)


def many_items(d, scale=1.0, words=("0", "1", "2")):
    """Files of 18 items and three people, of whom the last has one trial."""
    rng = np.random.default_rng(0)
    items = [["item", *(f"f{j}" for j in range(d))]]
    items += [[i, *(scale * (rng.normal(size=d) + i % 3))] for i in range(18)]
    trials = [["person", "task", "trial", "item", "label", "answer", "is_taught"]]
    for person, steps in enumerate((8, 8, 1)):
        for t in range(steps):
            item, answer = rng.integers(18), rng.integers(3)
            trials.append([person, 1, t, item, words[item % 3], words[answer], int(t < 6)])
    return table(items), table(trials)


def table(rows):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize(
    "shape",
    [
        {"d": 1},
        {"d": 500},
        {"d": 2, "scale": 1e12},
        {"d": 2, "scale": 1e-12},
        {"d": 2, "words": ("Grüße, Welt", "日本", "x")},
    ],
    ids=str,
)
def test_what_is_predicted_of_odd_sets_are_probabilities(tmp_path, shape):
    items, trials = many_items(**shape)
    folder = written(tmp_path / "odd", items, trials, "person,memory\n")
    experiment = People(paths=(folder,), answers=5).prepared(tmp_path)
    for unit in experiment.units():
        row = experiment.run(unit.cell, unit.seed)
        for name, chances in (row["chances"] | row.get("tests", {})).items():
            assert np.isfinite(chances).all(), name
            np.testing.assert_allclose(np.sum(chances, axis=-1), 1, atol=1e-4, err_msg=name)


# What is refused, with its place and what to do.


def lines_of(text):
    """All but the first."""
    return text.partition("\n")[2]


WRONG = [
    ("items", "a,1,5", "a,nan,5", "items.csv, line 2: height is 'nan', not a number; every"),
    ("items", "a,1,5", "a,inf,5", "items.csv, line 2: height is 'inf', not a number; every"),
    ("items", "a,1,5", "a,,5", "items.csv, line 2: height is '', not a number; every"),
    ("items", "a,1,5", 'a,"1,5",5', "items.csv, line 2: height is '1,5', not a number; every"),
    ("items", "b,", "a,", "items.csv, line 3: there is the item 'a' twice; give it one line"),
    ("items", "width", "height", "items.csv, line 1: the column height comes twice; rename"),
    ("items", lines_of(ITEMS), "a,1,5\nb,1,5\nc,1,5\nd,1,5\n", "the same features in every line"),
    ("items", lines_of(ITEMS), "", "items.csv needs items"),
    ("items", ITEMS, "", "items.csv has no column item: its first line is ''"),
    ("items", ",", ";", "no column item: its first line is 'item;height;width'. Name the"),
    ("items", ",", "\t", r"its first line is 'item\theight\twidth'. Name the columns there"),
    ("trials", "p,1,2", "p,1,1", "line 3: person 'p' in task '1' has this trial number twice;"),
    ("trials", "p,1,2", "p,1,second", "line 3: trial is 'second', not a number; number trials"),
    ("trials", "1,3,b", "1,3,z", "line 4: the item 'z' is not in items.csv; add it there or"),
    ("trials", "dog,1", "bird,1", "line 2: the answer 'bird' is none of the labels (cat, dog)"),
    ("trials", "dog,1", ",1", "line 2: answer is missing; fill it in or leave the line out"),
    ("trials", "dog,1", "NA,1", "line 2: answer is missing; fill it in or leave the line out"),
    ("trials", "a,cat", "a,nan", "line 2: label is missing; fill it in or leave the line out"),
    ("trials", "b,cat,cat,0", "b,cat,cat,maybe", "line 4: is_taught is 'maybe'; write 1 or 0"),
    ("trials", "label", "answer", "trials.csv has no column label"),
    ("trials", "is_taught", "is_taught,item", "the column item comes twice; rename one"),
    ("trials", "p,1,2,c", "p,1,2,a", "line 3: person 'p' in task '1' has the item 'a' with"),
    ("trials", ",1\n", ",0\n", "line 2: person 'p' in task '1' was told nothing"),
    ("trials", "cat", "dog", "labels in trials.csv is 1; the models take 2 to 20 classes"),
    ("trials", lines_of(TRIALS), "", "trials.csv has no trials"),
    ("trials", "p,1,2,c", 'p,1,2,"c', "line 3: this is not CSV (unexpected end of data); close"),
    ("trials", "p,1,2,c", f"{'p' * 200_000},1,2,c", "line 3: this is not CSV (field larger"),
    ("trials", "c,dog,dog,1", "c,dog,d,o,g,1", "line 3: 7 values are expected, and there are 9"),
    ("memory", "0.5", "", "memory.csv, line 2: memory is missing; fill it in or leave"),
    ("memory", "0.5", "good", "memory.csv, line 2: memory is 'good', not a number; write one"),
    ("memory", "q", "p", "memory.csv, line 3: there is the person 'p' twice; give it one line"),
    ("memory", lines_of(MEMORY), "x,1\ny,2\n", "memory.csv has nobody of trials.csv; write the same"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "complaint"), WRONG, ids=[one[3] for one in WRONG])
def test_what_is_wrong_is_named_with_its_place_and_a_remedy(tmp_path, file, old, new, complaint):
    good = {"items": ITEMS, "trials": TRIALS, "memory": MEMORY}[file]
    assert old in good
    folder = written(tmp_path / "people", **{file: good.replace(old, new)})
    assert complaint in said_of(folder)


def said_of(folder):
    """The sentence, with files named from their folder."""
    with pytest.raises(BadExperiment) as refused:
        read_people(folder)
    said = str(refused.value).replace(f"{folder}{os.sep}", "")
    assert "\n" not in said
    return said


def with_times(*times):
    """The trials with these response times."""
    first, *lines = TRIALS.splitlines()
    return "\n".join(
        [f"{first},response_ms", *(f"{a},{b}" for a, b in zip(lines, times, strict=True))]
    )


def test_a_response_time_may_be_missing_and_is_a_number_otherwise(tmp_path):
    times = ["", "NA", "nan", "0", "1250", "12.5"]
    assert read_people(written(tmp_path / "people", trials=with_times(*times))).people == 2


@pytest.mark.parametrize(
    ("time", "complaint"),
    [
        ("slow", "line 4: response_ms is 'slow', not a number; write milliseconds like 1250"),
        ("inf", "line 4: response_ms is 'inf', not a number; write milliseconds like 1250"),
        ("-5", "line 4: response_ms is -5, below 0; write milliseconds like 1250"),
    ],
)
def test_a_response_time_that_is_none_is_refused(tmp_path, time, complaint):
    trials = with_times("1", "2", time, "4", "5", "6")
    assert complaint in said_of(written(tmp_path / "people", trials=trials))


def test_a_class_that_a_task_lacks_is_named_where_labels_differ_between_tasks(tmp_path):
    trials = TRIALS + "p,2,1,a,dog,dog,1\np,2,2,b,dog,cat,1\n"
    said = said_of(written(tmp_path / "people", trials=trials))
    assert "line 8: person 'p' in task '2' has no item with the label 'cat' of line 2" in said


def test_more_classes_than_the_models_take_are_refused(tmp_path):
    rows = [f"p,1,{n},{'abcd'[n % 4]},{n},{n},1" for n in range(21)]
    trials = "\n".join([TRIALS.splitlines()[0], *rows])
    assert "is 21; the models take 2 to 20" in said_of(written(tmp_path / "people", trials=trials))


@pytest.mark.parametrize("file", ["items", "trials", "memory"])
@pytest.mark.parametrize("pack", [gzip.compress, lambda text: text.decode().encode("utf-16")])
def test_what_is_no_text_in_utf_8_is_refused(tmp_path, file, pack):
    good = {"items": ITEMS, "trials": TRIALS, "memory": MEMORY}[file]
    folder = written(tmp_path / "people", **{file: pack(good.encode())})
    assert f"{file}.csv, line 1: this is not text in UTF-8; unpack the file" in said_of(folder)


def test_the_line_with_a_letter_that_is_no_utf_8_is_named(tmp_path):
    trials = TRIALS.replace("c,dog,dog,1", "c,dög,dog,1").encode("latin-1")
    assert "line 3: this is not text" in said_of(written(tmp_path / "people", trials=trials))


@pytest.mark.parametrize("file", ["items.csv", "trials.csv", "memory.csv"])
def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path, file):
    folder = written(tmp_path / "people")
    (folder / file).unlink()
    (folder / file).mkdir()
    assert f"{file} cannot be read: Is a directory." in said_of(folder)


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for name in ("file", "nothing"):
        said = said_of(tmp_path / name)
        assert said.endswith(f"{name} is not a folder; name one with items.csv and trials.csv.")


def test_a_name_too_long_for_the_files_of_the_report_is_refused(tmp_path):
    assert "shorten it to 200 bytes" in said_of(written(tmp_path / ("ü" * 101)))
    assert read_people(written(tmp_path / ("ü" * 100))).people == 2
