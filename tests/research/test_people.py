"""People's data: reading it strictly, predicting it fairly, and the report."""

import csv
import dataclasses
import re

import numpy as np
import pytest

from research import people_scores, report
from research.experiment import BadExperiment, Checkpoint, run
from research.people import (
    HARMONIC,
    REGULARISED,
    RUNNING,
    TRACKED,
    Lesson,
    People,
    distinguishing,
    each_model,
    running,
)
from research.people_data import read_people, standardised
from research.people_report import counted
from research.report import mean_curve
from teaching import decay
from teaching.engine import BadSetting, Shown, belief

HEADER = ["person", "task", "trial", "item", "label", "answer", "is_taught", "response_ms"]


def write_csv(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def made_people(folder, *, people=3, k=2, steps=12, tested=0, own_labels=False):
    """A folder in the documented form: nine items on a grid, answers that get better."""
    folder.mkdir(parents=True)
    grid = [(i, i // 3, i % 3) for i in range(9)]
    write_csv(
        folder / "items.csv", ["item", "height", "width"], [[f"i{i}", a, b] for i, a, b in grid]
    )
    rng = np.random.default_rng(k)
    trials = []
    for person in range(people):
        turned = person % k if own_labels else 0
        for trial in range(steps + tested):
            item, row, _ = grid[rng.integers(9)]
            label = (min(row, k - 1) + turned) % k
            knows = rng.random() < 0.4 + trial / steps
            answer = label if knows else int(rng.integers(k))
            trials.append([person, 1, trial + 1, f"i{item}", label, answer, int(trial < steps), ""])
    write_csv(folder / "trials.csv", HEADER, trials)
    write_csv(folder / "memory.csv", ["person", "memory"], [[p, p / 2] for p in range(people)])
    return folder


@pytest.fixture(scope="module")
def two_sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    return (
        made_people(folder / "pairs", people=6, own_labels=True),
        made_people(folder / "triples", k=3, tested=4),
    )


# Reading.


def test_people_are_read_with_standardised_features_and_class_numbers(two_sets):
    data = read_people(two_sets[1])
    assert (data.name, data.people, list(data.classes)) == ("triples", 3, ["0", "1", "2"])
    np.testing.assert_allclose(data.features.std(axis=0), 1)
    session = data.sessions[0]
    assert session.is_taught.sum() == 12
    assert len(session.items) == 16
    assert data.memory["2"] == 1.0


def test_labels_are_shared_only_where_nobody_was_taught_others(two_sets):
    own, shared = (read_people(path) for path in two_sets)
    assert own.shared_labels is None
    assert set(own.labels_for(own.sessions[0])) == set(own.sessions[0].items.tolist())
    assert shared.labels_for(shared.sessions[0]) == shared.shared_labels


def test_of_many_features_the_scales_are_kept():
    features = np.random.default_rng(0).normal(size=(50, 20)) * np.arange(1, 21)
    kept = standardised(features).std(axis=0)
    np.testing.assert_allclose(kept / kept[0], features.std(axis=0) / features.std(axis=0)[0])


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("items.csv", "i3,", "i2,", "item 'i2' twice"),
        ("items.csv", "i3,1,0", "i3,tall,0", "line 5: height is 'tall', not a number"),
        ("trials.csv", "is_taught", "taught", "no column is_taught"),
        ("trials.csv", "0,1,2,", "0,1,1,", "trial number twice"),
        ("trials.csv", "0,1,2,i", "0,1,2,j", "is not in items.csv"),
        ("trials.csv", ",1,\n", ",yes,\n", "write 1 or 0"),
        ("trials.csv", ",1,\n", ",1\n", "8 values are expected"),
        ("memory.csv", "memory", "score", "no column memory"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, file, old, new, complaint):
    folder = made_people(tmp_path / "people")
    path = folder / file
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadExperiment, match=complaint):
        read_people(folder)


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(BadExperiment, match=r"items\.csv cannot be read"):
        read_people(tmp_path)


# Predicting.


@pytest.mark.parametrize("place", [0, 1])
def test_no_way_to_predict_looks_at_the_answers_to_come(two_sets, place):
    data = read_people(two_sets[place])
    session = data.sessions[0]
    k = len(data.classes)
    later = session.answers.copy()
    later[6:] = (later[6:] + 1) % k
    other = dataclasses.replace(session, answers=later)
    one, two = (Lesson.of(data, s, 12, 0.75).expected() for s in (session, other))
    for name, chances in one.items():
        np.testing.assert_allclose(chances[:7], two[name][:7], atol=1e-12, err_msg=name)
        np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_the_running_accuracy_starts_from_a_guess_at_each_class():
    chances = running(np.array([0, 1, 2]), np.array([0, 1, 1]), 3)
    np.testing.assert_allclose(chances[0], [1 / 3] * 3)
    np.testing.assert_allclose(chances[2], [1 / 5, 1 / 5, 3 / 5])


def test_those_who_know_no_person_know_all_the_others(two_sets):
    rows = [
        {"person": p, "classes": 2, "labels": [1, 0], "answers": answers}
        for p, answers in (("a", [1, 1]), ("b", [1, 0]), ("b", [0, 0]))
    ]
    told = people_scores.without_person(rows)
    # Of the two tasks of b one was right at first and both were right at last.
    np.testing.assert_allclose(told["curve"][0], [[1 / 2, 1 / 2], [3 / 4, 1 / 4]])
    np.testing.assert_allclose(told["constant"][0][0], [1 / 3, 2 / 3])


def test_the_calibration_error_is_the_mean_distance_in_tenths():
    expected, said = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0, 1, 1, 1.0])
    assert people_scores.calibration_error(expected, said) == pytest.approx((0.9 + 0.1) / 4)


def known_world(rng, shift, people=40, steps=25):
    """Gaps and counts of people who say a class more often than expected, each time by as much."""
    expected = rng.uniform(0.1, 0.8, people * steps)
    said = (rng.random(expected.size) < expected + shift).astype(float)
    who = np.repeat(np.arange(people), steps)
    gaps = people_scores.binned_gaps(expected, said, who, people)
    counts = np.full(people, float(steps))
    error = people_scores.total_error(gaps, counts)
    assert error == pytest.approx(people_scores.calibration_error(expected, said))
    return error, gaps, counts


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.05, 0.15])
def test_intervals_of_the_calibration_error_hold_the_estimate_and_mostly_the_truth(shift):
    held = 0
    for seed in range(100):
        error, gaps, counts = known_world(np.random.default_rng(seed), shift)
        interval = people_scores.calibration_interval(gaps, counts)
        assert 0 <= interval.low <= error <= interval.high
        held += interval.low <= shift <= interval.high
    # Drawing people again without a correction holds an error of 0 never.
    assert held >= 85


@pytest.mark.parametrize("people", [1, 2, 4])
def test_a_few_people_give_no_interval_of_the_calibration_error(people):
    _, gaps, counts = known_world(np.random.default_rng(0), 0.1, people=people)
    assert people_scores.calibration_interval(gaps, counts) is None


def answered(lengths, loss=0.5):
    """People of one task each who gave so many answers, and one way that expected them all alike."""
    rows = [
        {"person": str(p), "answers": [1] * t, "labels": [1] * t} for p, t in enumerate(lengths)
    ]
    p = np.exp(-loss)
    return people_scores.Answered(rows, {"way": [np.tile([1 - p, p], (t, 1)) for t in lengths]})


def test_who_left_early_does_not_shorten_the_curve_of_the_others():
    found = answered([30] * 7 + [9])
    assert [(w.start, w.people) for w in found.windows] == [
        (0, 8), (5, 7), (10, 7), (15, 7), (20, 7), (25, 7)
    ]  # fmt: skip
    by_answers = found.by_answers("way")
    assert np.isfinite(by_answers[:7]).all()
    assert np.isfinite(by_answers[7]).tolist() == [True, False, False, False, False, False]
    np.testing.assert_allclose(by_answers[0], 0.5)


@pytest.mark.parametrize(
    ("lengths", "starts"),
    [
        ([20, 10, 10, 10], [0, 5]),
        ([20, 20, 10, 10], [0, 5, 10, 15]),
        ([20, 20, 20, 10, 10, 10, 10], [0, 5]),
        ([20, 10], [0, 5]),
        ([20], [0, 5, 10, 15]),
        ([3, 3], [0]),
        ([7, 3], [0]),
    ],
)
def test_a_curve_ends_where_less_than_half_or_one_of_several_are_left(lengths, starts):
    found = answered(lengths)
    assert [window.start for window in found.windows] == starts


def test_a_mean_over_curves_of_different_lengths_is_over_those_who_got_there():
    values = [[1.0, 4.0], [2.0, 6.0], [3.0, np.nan]]
    curve, alone = mean_curve("a", [0, 5], values), mean_curve("a", [5], [[4.0], [6.0]])
    np.testing.assert_allclose(curve.mean, [2, 5])
    np.testing.assert_allclose([curve.low[1], curve.high[1]], [alone.low[0], alone.high[0]])


def test_losses_are_means_over_answers_then_tasks_then_people():
    rows = [
        {"person": p, "answers": [1] * t, "labels": [1] * t}
        for p, t in (("a", 1), ("a", 3), ("b", 2))
    ]
    chances = [np.array([[0.5, 0.5]] * t) for t in (1, 3, 2)]
    chances[1][:] = [0.2, 0.8]
    found = people_scores.Answered(rows, {"way": chances})
    assert found.people["way"]["a"] == pytest.approx(-(np.log(0.5) + np.log(0.8)) / 2)
    assert found.people["way"]["b"] == pytest.approx(-np.log(0.5))


def test_for_tests_the_others_are_known_by_their_last_answers_and_their_tests():
    rows = [
        {
            "person": person,
            "classes": 2,
            "labels": [1] * 6,
            "answers": [0] * (6 - right) + [1] * right,
            "test_labels": [0, 0],
            "test_answers": [0] * tests + [1] * (2 - tests),
            "tests_after": [0, 4] if person == "b" else [6, 9],
        }
        for person, right, tests in (("a", 6, 2), ("b", 3, 1), ("c", 6, 0))
    ]
    told = people_scores.of_tests(rows, rows)
    # b and c were right in 3 and 5 of their last 5 answers, and in one of 4 tests.
    np.testing.assert_allclose(told["curve"][0], [[9 / 12, 3 / 12]] * 2)
    np.testing.assert_allclose(told["constant"][0], [[2 / 6, 4 / 6]] * 2)
    # b's first test came before everything, where a and c were right at once, and the other after four answers.
    np.testing.assert_allclose(told["curve"][1], [[3 / 4, 1 / 4], [9 / 10, 1 / 10]])


def test_a_model_expects_of_a_test_what_it_would_expect_of_the_next_item(two_sets):
    data = read_people(two_sets[1])
    lesson = Lesson.of(data, data.sessions[0], 12, 0.75)
    history = lesson.history(lesson.examples.size)
    after = lesson.singles_of_tests()
    last = Shown(int(lesson.tests[-1]), 2, history[0].p)
    next_ = each_model(lesson.tracked.mixture(lesson.pool, [*history, last]))
    for name, chances in after.items():
        np.testing.assert_allclose(chances[-1], next_[name][-1], atol=1e-12, err_msg=name)


def test_a_test_is_predicted_from_what_had_been_taught_before_it(tmp_path):
    folder = made_people(tmp_path / "between", people=1, steps=12, tested=3)
    _, *trials = csv.reader((folder / "trials.csv").read_text().splitlines())
    before = [0, 5, 5]
    # The tests move to the beginning and between the taught trials.
    for trial, place in zip(trials[-3:], before, strict=True):
        trial[2] = place + 0.5
    trials[-1][2] += 0.1
    write_csv(folder / "trials.csv", HEADER, trials)
    data = read_people(folder)
    lesson = Lesson.of(data, data.sessions[0], 12, 0.75)
    assert lesson.tests_after.tolist() == before
    expected, singles = lesson.expected_of_tests(), lesson.singles_of_tests()
    for place, (test, taught) in enumerate(zip(lesson.tests.tolist(), before, strict=True)):
        history = lesson.history(taught)
        told = lesson.tracked.predict(lesson.pool, history)[test]
        assert expected[TRACKED][place, 1] == pytest.approx(told, abs=1e-12)
        assert expected[HARMONIC][place, 1] == pytest.approx(belief(lesson.pool, history)[test])
        next_ = lesson.tracked.mixture(lesson.pool, [*history, Shown(test, 0, [0.5, 0.5])])
        for name, chances in each_model(next_).items():
            assert singles[name][place] == pytest.approx(chances[-1], abs=1e-12), name
    # Nobody knows anything before the first lesson.
    for name in (HARMONIC, REGULARISED, RUNNING):
        np.testing.assert_allclose(expected[name][0], [0.5, 0.5])
    right = (lesson.answers[:5] == lesson.pool.labels[lesson.examples[:5]]).sum()
    label = lesson.pool.labels[lesson.tests[1]]
    assert expected[RUNNING][1, label] == pytest.approx((right + 1) / 7)


def test_models_are_named_by_what_differs_between_them():
    names = ["decay 1.0, slope 0.0", "decay 0.9, slope 0.0"]
    assert distinguishing(names) == ["decay 1.0", "decay 0.9"]
    assert distinguishing(["the last label again"]) == ["the last label again"]


# The report.


@pytest.fixture(scope="module")
def told(two_sets, tmp_path_factory):
    """The experiment with its results and sections."""
    folder = tmp_path_factory.mktemp("told")
    experiment = People(paths=two_sets, answers=12).prepared(folder)
    results = run(experiment, folder)
    return experiment, results, experiment.report(results)


def parts_of(sections):
    return {part.data.name: part for one in sections for part in (*one.tables, *one.figures)}


def test_a_report_covers_every_set_with_its_tests_and_memory(two_sets, told):
    _, results, sections = told
    assert [one.title for one in sections] == ["In short", "pairs", "triples"]
    assert [table.title for table in sections[2].tables][-2:] == [
        "Answers without feedback",
        "Single models, answers without feedback",
    ]
    row = results.of("triples")[0]
    assert {HARMONIC, TRACKED, RUNNING} <= set(row["chances"])
    assert {HARMONIC, REGULARISED, TRACKED, RUNNING} <= set(row["tests"])
    parts = parts_of(sections)
    for file in ("models", "tests-models"):
        assert len(parts[f"people-triples-{file}"].data.rows) == len(row["models"]) > 50
    losses = people_scores.Scored(read_people(two_sets[1]), results.of("triples")).next.people
    family, model, mean, low, high = parts["people-triples-models"].data.rows[40][:5]
    own = losses[f"{family}: {model}"].values()
    assert mean == pytest.approx(np.mean(list(own)))
    assert low < mean < high
    assert {"people-summary", "people-pairs-fits", "people-triples-tests"} <= parts.keys()
    assert {"people-pairs-memory", "people-pairs-memory-rates"} <= parts.keys()
    assert {"people-pairs-decay", "people-pairs-betas"} <= parts.keys()
    assert {"people-triples-tests-means", "people-triples-tests-calibration"} <= parts.keys()
    assert all(figure.svg for section in sections for figure in section.figures)


def test_the_files_of_figures_have_the_intervals_that_are_drawn(told):
    parts = parts_of(told[2])
    for name in ("means", "calibration", "by-answers", "calibration-by-answers"):
        data = parts[f"people-pairs-{name}"].data
        low, high = (data.header.index(end) for end in ("low", "high"))
        assert all(0 <= row[high] - row[low] < np.inf for row in data.rows), name
    ends = ["loss_low", "loss_high", "less_running_low", "calibration_error_high"]
    assert set(ends) <= set(parts["people-summary"].data.header)


def test_the_bars_of_the_distribution_of_beta_add_up_to_everybody(told):
    rows = parts_of(told[2])["people-pairs-betas"].data.rows
    assert sum(row[-1] for row in rows) == pytest.approx(100)


def test_axes_name_the_second_class_of_two_and_any_class_of_more(told):
    parts = parts_of(told[2])
    assert "“1” was predicted, %" in parts["people-pairs-calibration"].svg
    assert "a class was predicted, %" in parts["people-triples-calibration"].svg
    assert "answers seen" in parts["people-pairs-by-answers"].svg


def test_figures_stand_in_pairs(told):
    assert {section.columns for section in told[2][1:]} == {2}


@pytest.mark.parametrize(("people", "steps"), [(1, 5), (2, 5), (1, 1)])
def test_a_tiny_set_has_a_report(tmp_path, people, steps):
    folder = made_people(tmp_path / "tiny", people=people, steps=steps, tested=2)
    experiment = People(paths=(folder,)).prepared(tmp_path)
    sections = experiment.report(run(experiment, tmp_path))
    assert report.write(report.Report("tiny", sections, {}), tmp_path).exists()
    assert not re.search(r"\bnan\b", (tmp_path / "report.html").read_text())


def test_one_of_a_kind_is_counted_in_the_singular():
    assert (counted(1, "feature"), counted(2, "feature")) == ("1 feature", "2 features")
    assert (counted(1, "class", "classes"), counted(5, "class", "classes")) == (
        "1 class",
        "5 classes",
    )


def test_a_person_has_one_decay_of_all_tasks_and_the_group_one_distribution(two_sets, tmp_path):
    experiment = People(paths=two_sets, answers=12).prepared(tmp_path)
    rows = run(experiment, tmp_path).of("pairs")
    again = [*rows, *({**row, "task": "2"} for row in rows)]
    found = people_scores.Scored(read_people(two_sets[0]), again)
    person, surfaces = next(iter(found.surfaces.items()))
    assert [row["surface"] for row in again if row["person"] == person] == surfaces
    assert found.betas[person] == decay.estimate_beta(surfaces)
    assert found.group.people == len(found.next.persons) == 6
    # A second task of everybody counts, though it adds no person.
    assert found.group.shares != people_scores.Scored(found.data, rows).group.shares


def test_rows_of_before_are_not_gone_on_with(two_sets, tmp_path):
    experiment = People(paths=two_sets, answers=12).prepared(tmp_path)
    settings = {name: value for name, value in experiment.settings().items() if name != "seeds"}
    del settings["rows"]
    Checkpoint.open(tmp_path, settings)
    with pytest.raises(BadExperiment, match="--fresh"):
        run(experiment, tmp_path)


def test_two_folders_of_one_name_are_refused(two_sets, tmp_path):
    with pytest.raises(BadExperiment, match="same name"):
        People(paths=(two_sets[0], two_sets[0])).prepared(tmp_path)


@pytest.mark.parametrize("name", ["items.csv", "trials.csv"])
def test_a_corrected_file_is_another_run(tmp_path, name):
    folder = made_people(tmp_path / "pairs")
    before = People(paths=(folder,)).settings()
    corrected = (folder / name).read_text().replace("i8,", "i8 ,")
    (folder / name).write_text(corrected)
    assert People(paths=(folder,)).settings() != before


def test_a_decay_that_is_none_is_refused_before_the_work(two_sets):
    with pytest.raises(BadSetting, match="lies in"):
        People(paths=two_sets, beta=2.0)
