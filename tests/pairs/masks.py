"""Masks: filled, selected or added, and sliding windows built two ways. Scores are [batch, heads, time, time]."""

import torch

from pairs.pair import Pair, inputs, mask, twins, vary

LOWEST = torch.finfo(torch.float32).min

# 21: masked fill, where, and adding −∞


def filled(x, kept):
    return x.masked_fill(~kept, 0.25)


def selected(x, kept):
    return torch.where(kept, x, 0.25)


def selected_inverted(x, kept):
    return torch.where(kept, 0.25, x)


def multiplied(x, kept, value=0.25):
    factor = kept.to(x.dtype)
    return x * factor + value * (1 - factor)


def softmax_filled(scores, kept):
    return scores.masked_fill(~kept, -torch.inf).softmax(-1)


def softmax_selected(scores, kept):
    return torch.where(kept, scores, -torch.inf).softmax(-1)


def softmax_selected_with_zero(scores, kept):
    return torch.where(kept, scores, 0.0).softmax(-1)


def softmax_added(scores, kept):
    return (scores + torch.zeros(kept.shape, dtype=scores.dtype).masked_fill(~kept, -torch.inf)).softmax(-1)


def softmax_added_inverted(scores, kept):
    return (scores + torch.zeros(kept.shape, dtype=scores.dtype).masked_fill(kept, -torch.inf)).softmax(-1)


def softmax_lowest(scores, kept):
    """As Transformers does: the lowest finite number stands for −∞."""
    return (scores + torch.where(kept, 0.0, LOWEST)).softmax(-1)


def softmax_minus_one(scores, kept):
    return (scores + torch.where(kept, 0.0, -1.0)).softmax(-1)


def softmax_renormalised(scores, kept):
    weights = scores.exp() * kept
    return weights / weights.sum(-1, keepdim=True)


def softmax_masked_after(scores, kept):
    return scores.softmax(-1) * kept


def causal_filled(scores):
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1)


def causal_by_positions(scores, first=0):
    query, key = torch.arange(scores.shape[-2])[:, None], torch.arange(scores.shape[-1])
    return torch.where(key <= query + first, scores, -torch.inf).softmax(-1)


# 22: sliding windows

WINDOW = 3


def window_by_positions(scores):
    """A token sees itself and the two before it."""
    query, key = torch.arange(scores.shape[-2])[:, None], torch.arange(scores.shape[-1])
    kept = (key <= query) & (query - key < WINDOW)
    return torch.where(kept, scores, -torch.inf).softmax(-1)


def window_by_triangles(scores, window=WINDOW):
    ones = torch.ones(scores.shape[-2:], dtype=torch.bool)
    return scores.masked_fill(ones.triu(1) | ones.tril(-window), -torch.inf).softmax(-1)


def window_both_ways(scores):
    ones = torch.ones(scores.shape[-2:], dtype=torch.bool)
    return scores.masked_fill(ones.triu(WINDOW) | ones.tril(-WINDOW), -torch.inf).softmax(-1)


def window_added(scores, window=WINDOW):
    """The causal and the window mask, each added."""
    zeros = torch.zeros(scores.shape[-2:], dtype=scores.dtype)
    ones = torch.ones(scores.shape[-2:], dtype=torch.bool)
    causal = zeros.masked_fill(ones.triu(1), -torch.inf)
    near = zeros.masked_fill(ones.tril(-window), -torch.inf)
    return (scores + causal + near).softmax(-1)


def causal_without_window(scores):
    return scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf).softmax(-1)


def window_of_lists(scores, window=WINDOW):
    """Each row's own slice of keys, padded with zeros."""
    rows = []
    for query in range(scores.shape[-2]):
        start = max(0, query + 1 - window)
        weights = scores[..., query, start : query + 1].softmax(-1)
        rows.append(torch.nn.functional.pad(weights, (start, scores.shape[-1] - query - 1)))
    return torch.stack(rows, dim=-2)


MASKED = inputs((2, 5, 7), mask(5, 7))
SCORES = inputs((2, 3, 7, 7))

PAIRS = [
    Pair("masked fill and where", 21, filled, selected, MASKED, twins(inverted_mask=selected_inverted)),
    Pair("masked fill and multiplication", 21, filled, multiplied, MASKED,
         twins(value_off=vary(multiplied, value=0.26))),
    Pair("softmax of a masked fill and of a where", 21, softmax_filled, softmax_selected, MASKED,
         twins(zero_instead_of_infinity=softmax_selected_with_zero)),
    Pair("softmax of a masked fill and of an added mask", 21, softmax_filled, softmax_added, MASKED,
         twins(inverted_mask=softmax_added_inverted)),
    Pair("softmax with −∞ and with the lowest number", 21, softmax_filled, softmax_lowest, MASKED,
         twins(too_small_a_number=softmax_minus_one)),
    Pair("softmax masked before and renormalised after", 21, softmax_filled, softmax_renormalised, MASKED,
         twins(not_renormalised=softmax_masked_after)),
    Pair("causal mask by triangle and by positions", 21, causal_filled, causal_by_positions, SCORES,
         twins(diagonal_off_by_one=vary(causal_by_positions, first=1))),
    Pair("window by positions and by triangles", 22, window_by_positions, window_by_triangles, SCORES,
         twins(window_off_by_one=vary(window_by_triangles, window=WINDOW + 1), window_both_ways=window_both_ways)),
    Pair("window by positions and by added masks", 22, window_by_positions, window_added, SCORES,
         twins(window_off_by_one=vary(window_added, window=WINDOW - 1), window_forgotten=causal_without_window)),
    Pair("window by positions and by slices", 22, window_by_positions, window_of_lists, SCORES,
         twins(window_off_by_one=vary(window_of_lists, window=WINDOW + 1))),
]
