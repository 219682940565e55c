import numpy as np
import pytest

from attncalc.show import Settings, render
from attncalc.show.document import Facts, Matrix, Table
from attncalc.show.pages.compute import Computed, page

B, H, T, S, D = 2, 3, 5, 7, 11  # all different, so that a swapped axis cannot pass


def numbered(*shape):
    """Each element says where it stands: 0 2 4 → 24."""
    return np.fromfunction(lambda *index: sum(10.0 ** (len(shape) - 1 - n) * i for n, i in enumerate(index)), shape)


def matrices(**fields):
    return [block for block in page(Computed(**fields)).blocks if isinstance(block, Matrix)]


def test_header_then_shapes_then_stages_in_their_order():
    document = page(
        Computed(
            stages={"weights": np.eye(2), "raw": np.eye(2)},
            axes={"weights": ("query", "key"), "raw": ("query", "key")},
            header=(("scale", "1"),),
            trail=(("Q", "2 × 1"),),
        )
    )
    assert [type(block) for block in document.blocks] == [Facts, Table, Matrix, Matrix]
    assert [block.title for block in document.blocks[1:]] == ["shapes", "weights", "raw"]


def test_a_matrix_for_each_batch_and_head():
    made = matrices(stages={"scores": numbered(B, H, T, S)}, axes={"scores": ("batch", "head", "query", "key")})
    assert [matrix.title for matrix in made[:4]] == [
        "scores · batch 0 · head 0",
        "scores · batch 0 · head 1",
        "scores · batch 0 · head 2",
        "scores · batch 1 · head 0",
    ]
    assert made[4].title == "scores · batch 1 · head 1"
    assert made[4].values[3, 6] == 1136
    assert made[0].column_labels[-1] == "k6"


def test_axes_in_any_order():
    (first, second, *_) = matrices(stages={"output": numbered(T, H, D)}, axes={"output": ("query", "head", "column")})
    assert second.title == "output · head 1"
    assert second.values[4, 2] == 412
    assert first.column_labels[:2] == ["d0", "d1"]


def test_indexes_go_on_counting_after_a_choice():
    (only,) = matrices(
        stages={"weights": numbered(1, T, S)}, axes={"weights": ("head", "query", "key")}, first={"head": 2}
    )
    assert only.title == "weights · head 2"


def test_blocked_cells_are_marked_in_scores_and_weights_only():
    allowed = np.tri(T, S, dtype=bool)
    stages = {name: np.zeros((H, T, S)) for name in ("raw", "scores", "weights")}
    made = matrices(stages=stages, axes=dict.fromkeys(stages, ("head", "query", "key")), allowed=allowed)
    raw, scores, weights = made[0], made[H], made[2 * H]
    assert raw.blocked is None
    assert np.array_equal(scores.blocked, ~allowed)
    assert np.array_equal(weights.blocked, ~allowed)
    assert scores.strength is None
    assert weights.strength is not None


def test_lse_is_a_column_and_tokens_name_rows_and_columns():
    lse, weights = matrices(
        stages={"lse": np.zeros(2), "weights": np.full((2, 3), np.nan)},
        axes={"lse": ("query",), "weights": ("query", "key")},
        query_tokens=("the", "the"),
        key_tokens=("a", "b", "c"),
    )
    assert lse.row_labels == ["the", "the"]
    assert lse.column_labels == ["lse"]
    assert weights.column_labels == ["a", "b", "c"]
    assert np.array_equal(weights.strength, np.zeros((2, 3)))


def test_keys_and_values_have_a_row_for_each_key():
    key, value = matrices(
        stages={"key": numbered(3, 2), "value": numbered(H, 3, D)},
        axes={"key": ("key", "column"), "value": ("head", "key", "column")},
        key_tokens=("a", "b", "c"),
    )[:2]
    assert key.row_labels == value.row_labels == ["a", "b", "c"]
    assert key.column_labels == ["d0", "d1"]
    (key,) = matrices(stages={"key": numbered(3, 2)}, axes={"key": ("key", "column")})
    assert key.row_labels == ["k0", "k1", "k2"]


@pytest.mark.parametrize("stage", ["raw", "query"])
def test_whole_numbers_have_no_decimals_before_the_scale(stage):
    document = page(Computed(stages={stage: np.eye(2)}, axes={stage: ("query", "key")}))
    assert "q0 │  1   0" in render(document, "table", Settings())
    document = page(Computed(stages={"output": np.eye(2)}, axes={"output": ("query", "column")}))
    assert "q0 │ 1.0000  0.0000" in render(document, "table", Settings())


def test_labels_that_do_not_fit_are_a_fault_of_ours():
    with pytest.raises(ValueError, match="3 row labels for 2 rows"):
        matrices(stages={"raw": np.eye(2)}, axes={"raw": ("query", "key")}, query_tokens=("a", "b", "c"))
