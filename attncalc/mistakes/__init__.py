"""The catalogue of known mistakes: wrong on purpose, each the right computation with a step or two replaced.

    from attncalc.mistakes import CATALOGUE, find
    for mistake in CATALOGUE:
        mistake.id, mistake.title, mistake.instead.torch

An entry stands in the file of the step that it gets wrong; its words are in
``attncalc.texts``, by id.  ``wrong.py`` runs entries.
"""

from attncalc.errors import OptionError
from attncalc.mistakes import band, heads, masks, output, padding, positions, scores, softmax
from attncalc.mistakes.cures import Cure
from attncalc.mistakes.record import Form, Mistake, Words
from attncalc.mistakes.wrong import combine
from attncalc.suggest import did_you_mean

__all__ = ["CATALOGUE", "Cure", "Form", "Mistake", "Words", "combine", "find"]

CATALOGUE: tuple[Mistake, ...] = (
    # input
    heads.PROJECTION_TRANSPOSED,
    heads.PROJECTION_BIAS_MISSING,
    heads.HEADS_SPLIT_BY_RESHAPE,
    heads.KEY_VALUE_SWAPPED,
    heads.PAST_APPENDED_AFTER,
    heads.GQA_TILED,
    positions.ROPE_IGNORED,
    positions.ROPE_PAIRING,
    positions.ROPE_ON_VALUES,
    positions.ROPE_OFFSET_IGNORED,
    # raw
    scores.QUERY_KEY_SWAPPED,
    scores.KEY_NOT_TRANSPOSED,
    # scaled
    scores.SCALE_MISSING,
    scores.SCALE_D_MODEL,
    scores.SCALE_INVERTED,
    scores.SCALE_TWICE,
    scores.SCALE_D_NOT_SQRT,
    scores.SCALE_FROM_VALUES,
    scores.SCALE_OPTION_IGNORED,
    # capped
    scores.SOFTCAP_IGNORED,
    scores.SOFTCAP_BEFORE_SCALE,
    scores.SOFTCAP_WRONG_FORMULA,
    # biased
    scores.BIAS_IGNORED,
    scores.BIAS_BEFORE_SCALE,
    positions.ALIBI_IGNORED,
    positions.ALIBI_SIGN,
    positions.ALIBI_SLOPES_SHIFTED,
    # scores
    band.CAUSAL_IGNORED,
    band.CAUSAL_STRICT,
    band.CAUSAL_ONE_AHEAD,
    band.CAUSAL_REVERSED,
    band.CAUSAL_WRONG_CORNER,
    band.CAUSAL_IGNORES_PAST,
    band.WINDOW_IGNORED,
    band.WINDOW_ONE_SHORT,
    band.WINDOW_ONE_LONG,
    band.WINDOW_IGNORES_OFFSET,
    masks.MASK_IGNORED,
    masks.MASK_INVERTED,
    masks.MASK_TRANSPOSED,
    masks.MASK_BATCH_ORDER,
    masks.MASK_ADDED_AS_NUMBERS,
    masks.MASK_MULTIPLIED,
    masks.MASK_FINITE_FILL,
    masks.MASKS_UNIONED,
    padding.PADDING_IGNORED,
    padding.PADDING_INVERTED,
    padding.PADDING_ON_QUERIES,
    padding.PADDING_WRONG_SIDE,
    padding.LENGTHS_ONE_SHORT,
    padding.LENGTHS_ONE_LONG,
    masks.SOFTCAP_AFTER_MASK,
    # weights
    softmax.MASK_AFTER_SOFTMAX,
    softmax.SCALE_AFTER_SOFTMAX,
    softmax.SOFTMAX_OVER_QUERIES,
    softmax.SOFTMAX_OVER_HEADS,
    softmax.SOFTMAX_MISSING,
    softmax.SOFTMAX_UNSTABLE,
    softmax.SOFTMAX_LOW_PRECISION,
    softmax.EMPTY_ROW_NAN,
    softmax.DROPOUT_LEFT_ON,
    softmax.SINK_IGNORED,
    softmax.SINK_RENORMALISED,
    # output
    output.SINK_AS_EXTRA_VALUE,
    output.WEIGHTS_TRANSPOSED,
    output.BLOCKED_NAN_LEAKS,
    output.HEADS_BATCH_SWAPPED,
    output.HEADS_AVERAGED,
    output.HEADS_MERGED_BY_RESHAPE,
    output.OUTPUT_PROJECTION_MISSING,
)
"""Every known mistake, in the order of the steps."""


def find(id: str) -> Mistake:
    """Return the entry of that id, or say which one may have been meant."""
    for mistake in CATALOGUE:
        if mistake.id == id:
            return mistake
    ids = [mistake.id for mistake in CATALOGUE]
    raise OptionError(
        f"no known mistake is called {id or '“”'}", hint=did_you_mean(id, ids) or "attncalc mistakes lists them"
    )
