from hypothesis import given
from hypothesis import strategies as st

from attncalc.show.elision import GAP, at_most, ends, left_out, that_fit


def test_ends_meet_in_the_middle():
    assert list(ends(5)) == [0, 4, 1, 3, 2]


def test_limits():
    assert at_most(4, None) == at_most(4, 0) == at_most(4, 4) == at_most(4, 9) == [0, 1, 2, 3]
    assert at_most(6, 4) == [0, 1, GAP, 4, 5]
    assert at_most(6, 3) == [0, 1, GAP, 5]
    assert at_most(6, 1) == [0, GAP]


def test_what_fits_is_kept_from_both_ends():
    assert that_fit([0, 1, 2, 3], [4, 4, 4, 4], 16, 3) == [0, 1, 2, 3]
    assert that_fit([0, 1, 2, 3], [4, 4, 4, 4], 15, 3) == [0, 1, GAP, 3]
    assert that_fit([0, 1, GAP, 8, 9], [4, 4, 3, 4, 4], 12, 3) == [0, GAP, 9]
    assert that_fit([0, 1, 2], [50, 50, 50], 10, 3) == [0, GAP], "one column at least"


@given(st.lists(st.integers(3, 12), min_size=1, max_size=30), st.integers(15, 120))
def test_what_is_kept_fits_and_begins_with_the_first(widths, room):
    kept = that_fit(range(len(widths)), widths, room, 3)
    assert kept[0] == 0
    assert sum(3 if j == GAP else widths[j] for j in kept) <= room
    assert [j for j in kept if j != GAP] == sorted({j for j in kept if j != GAP})


def test_it_says_what_is_left_out():
    assert left_out((60, 60), range(60), range(60)) == ""
    assert left_out((60, 60), range(60), [0, 1, GAP, 59]) == "60 × 60: 3 of 60 columns shown"
    assert left_out((60,), [0, GAP, 59], [0]) == "60: 2 of 60 rows shown"
