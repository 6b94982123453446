"""The order of a row: thresholds at its k-th element, and gates of the chosen few."""

import torch

from pairs.pair import Pair, inputs, twins, vary

KEPT = 3


def above_the_last_of_topk(scores):
    last = torch.topk(scores, KEPT).values[:, -1:]
    return scores.masked_fill(scores < last, -torch.inf).softmax(-1)


def above_the_kth(scores, k=KEPT):
    kth = scores.sort(dim=-1, descending=True).values[:, k - 1 : k]
    e = torch.where(scores >= kth, scores.exp(), 0.0)
    return e / e.sum(-1, keepdim=True)


def kth_by_hand(scores):
    return scores.kthvalue(2, dim=-1).values, scores.median(-1).values


def kth_of_sorted(scores, at=1):
    ordered = scores.sort(-1).values
    return ordered[:, at], (-scores).topk(scores.shape[-1]).values[:, (scores.shape[-1] - 1) // 2].neg()


def gates_one_by_one(scores, values):
    weights, chosen = scores.softmax(-1).topk(KEPT)
    weights = weights / weights.sum(-1, keepdim=True)
    return sum(((chosen == e) * weights).sum(-1, keepdim=True) * values[e] for e in range(values.shape[0]))


def gates_scattered(scores, values, renormalised=True):
    top, chosen = scores.topk(KEPT)
    weights = top.softmax(-1) if renormalised else scores.softmax(-1).gather(-1, chosen)
    return torch.zeros_like(scores).scatter(-1, chosen, weights) @ values


SCORES = inputs((4, 7))

PAIRS = [
    Pair("threshold at the last of topk and of a sorted row", 34, above_the_last_of_topk, above_the_kth, SCORES,
         twins(one_fewer=vary(above_the_kth, k=KEPT - 1))),
    Pair("k-th value and the k-th of a sorted row", 34, kth_by_hand, kth_of_sorted, SCORES,
         twins(off_by_one=vary(kth_of_sorted, at=2))),
    Pair("gates one by one and scattered", 34, gates_one_by_one, gates_scattered, inputs((4, 5), (5, 3)),
         twins(not_renormalised=vary(gates_scattered, renormalised=False))),
]
