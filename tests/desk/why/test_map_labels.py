"""Names on a map: each is on the paper, none lies over another, and few marks are hidden."""

from itertools import combinations

from hypothesis import example, given
from hypothesis import strategies as st

from desk.why_drawings import Label, box_around, is_within, overlap, place_labels

PAPER = (0.0, 0.0, 640.0, 420.0)
spots = st.tuples(st.floats(18, 622), st.floats(18, 402))
names = st.sampled_from(["EER", "JEDI, IMT", "Tracked"])


def put(rows, marks=(), clear=()) -> list[Label]:
    return place_labels(rows, paper=PAPER, marks=marks, clear=clear)


@given(st.lists(st.tuples(spots, names), max_size=4), spots)
@example([((18.0, 384.0), "EER"), *[((18.0, 397.0), "EER")] * 3], (60.0, 340.0))
def test_no_name_leaves_the_paper_or_lies_over_another_or_over_the_ring(rows, ring):
    labels = put(rows, clear=[box_around(ring, 11)])
    boxes = [label.box for label in labels]
    assert [(label.spot, label.name) for label in labels] == rows
    assert all(is_within(box, PAPER) for box in boxes)
    assert not any(overlap(one, other) for one, other in combinations(boxes, 2))
    assert not any(overlap(box, box_around(ring, 11)) for box in boxes)


def test_a_name_alone_stands_above_its_image_to_the_right():
    [label] = put([((300.0, 200.0), "EER")])
    assert (label.side, label.rise, label.anchor) == (1, -1, "start")
    assert label.pointer == (305.0, 195.0, 313.0, 187.0)


def test_a_name_gives_way_to_the_marks_beside_it():
    [first] = put([((300.0, 200.0), "EER")])
    left, top, right, bottom = first.box
    mark = ((left + right) / 2, (top + bottom) / 2)
    [label] = put([((300.0, 200.0), "EER")], marks=[mark])
    assert not is_within((*mark, *mark), label.box)


def test_at_the_right_edge_a_name_stands_to_the_left():
    [label] = put([((630.0, 200.0), "Tracked")])
    assert (label.side, label.anchor) == (-1, "end")
    assert label.box[2] < 630
