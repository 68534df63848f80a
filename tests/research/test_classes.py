"""Two, three and five classes: the same learners for every teacher, and a report with the gaps."""

import numpy as np
import pytest

from research.classes import APART, TEACHERS, Classes, cell_of, gaussian_classes
from research.experiment import BadExperiment, Results, Unit


def test_all_pairs_of_classes_are_as_far_from_each_other():
    split, pool = gaussian_classes(5, 1)
    assert pool.class_count == 5
    examples = split.teaching
    means = [examples.features[examples.labels == c].mean(axis=0) for c in range(5)]
    gaps = [np.linalg.norm(means[a] - means[b]) for a in range(5) for b in range(a)]
    # Twenty features of sixty examples each add √(2·20/60) to a gap of three.
    np.testing.assert_allclose(gaps, np.sqrt(APART**2 + 2 * 20 / 60), atol=0.6)


def test_a_run_reports_accuracies_and_gaps_by_classes():
    experiment = Classes(seeds=2, classes=(2, 4), steps=8)
    rows = {unit: experiment.run(unit.cell, unit.seed) for unit in experiment.units()}
    assert rows[Unit(cell_of(4, "rt"), 1)] == experiment.run(cell_of(4, "rt"), 1)
    assert {row["target"] for unit, row in rows.items() if unit.cell[0] == "4"} == {
        rows[Unit(cell_of(4, one), seed)]["target"] for one in TEACHERS for seed in (0, 1)
    }
    _, learned, gaps = experiment.report(Results(rows))
    [table] = learned.tables
    assert [row[0] for row in table.rows][:4] == ["RT", "IMT", "EER", "JEDI"]
    assert table.rows[-1] == ["chance", "50.0", "25.0"]
    [figure] = learned.figures
    assert figure.data.header == ["classes", "teacher", "mean", "low", "high"]
    assert len(figure.data.rows) == 2 * len(TEACHERS)
    assert [row[0] for row in gaps.tables[0].rows] == ["2 classes", "4 classes"]


@pytest.mark.parametrize("classes", [(), (1, 2), (2, 21)])
def test_a_number_of_classes_out_of_range_is_refused(classes):
    with pytest.raises(BadExperiment, match="between 2 and 20"):
        Classes(classes=classes)
