"""Choices among choices: what is found among the largest of a row's parts is what is found in the row.

Against torch, on rows cut anywhere, with ties where these do not matter; and as claims."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from samesame import check
from samesame.formula.evaluate import evaluate
from samesame.formula.selected import untied
from samesame.formula.tensor import leaf
from samesame.operators import meaning_of

ROWS, LENGTH = 3, 12
SEEDS = range(12)


def aten(name):
    """An operator's meaning, and the operator."""
    namespace, packet, overload = name.split(".")
    return meaning_of(name), getattr(getattr(getattr(torch.ops, namespace), packet), overload)


SLICE, CAT, TOPK, GATHER = map(aten, ("aten.slice.Tensor", "aten.cat.default", "aten.topk.default",
                                      "aten.gather.default"))
MAX, MIN, ARGMAX, STACK, ADD = map(aten, ("aten.max.dim", "aten.min.dim", "aten.argmax.default", "aten.stack.default",
                                          "aten.add.Tensor"))


def ranked(name, attributes, rows, kind):
    """What the operators that choose do."""
    (row,), given = rows, torch.from_numpy(np.ascontiguousarray(rows[0]))
    if name in ("aten.argmax", "aten.argmin"):
        return np.asarray(np.argmax(row) if name == "aten.argmax" else np.argmin(row))
    what, options = attributes
    if name == "aten.sort":
        found = given.sort(descending=options[0], stable=True)
    else:
        found = given.topk(options[0], largest=options[1])
    return np.asarray(found.indices if what == "indices" else found.values)


def cuts(seed, fewest=1):
    """Where parts of a row end."""
    dice = random.Random(seed)
    inner = sorted(dice.sample(range(fewest, LENGTH - fewest), 2))
    while min(b - a for a, b in zip([0, *inner], [*inner, LENGTH], strict=True)) < fewest:
        inner = sorted(dice.sample(range(fewest, LENGTH - fewest), 2))
    return list(zip([0, *inner], [*inner, LENGTH], strict=True))


def drawn(seed, *, ties):
    dice = torch.Generator().manual_seed(seed)
    if ties:
        return torch.randint(-2, 3, (ROWS, LENGTH), generator=dice).double()
    return torch.randn(ROWS, LENGTH, generator=dice, dtype=torch.float64)


def by_top_k(side, x, ends, k, own, largest):
    """The k largest or smallest of each row and where they stood, by parts of which `own` many are taken."""
    (cut, cat, topk, gather, add) = (pair[side] for pair in (SLICE, CAT, TOPK, GATHER, ADD))
    found = [(*topk(cut(x, 1, low, high), min(own, high - low), -1, largest), low) for low, high in ends]
    values, places = topk(cat([v for v, *_ in found], 1), k, -1, largest)
    return values, gather(cat([add(i, low) for _, i, low in found], 1), 1, places)


def by_extremes(side, x, ends, of):
    """Where the greatest or least of each row stands, by parts."""
    (cut, stack, gather, add, extreme) = (pair[side] for pair in (SLICE, STACK, GATHER, ADD, of))
    found = [(*extreme(cut(x, 1, low, high), 1), low) for low, high in ends]
    best = extreme(stack([v for v, *_ in found], 1), 1, True)
    return best[0], gather(stack([add(i, low) for _, i, low in found], 1), 1, best[1])


def values_of(tensor, x):
    return evaluate(tensor, {"x": x.numpy()}, opaque=ranked)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("largest", [True, False])
def test_the_largest_of_the_largest_are_the_largest(seed, largest):
    ends, k = cuts(seed), 1 + seed % 4
    own = max(k - 1 + seed % 3, 1)                         # one too few: then there is no law, but a result
    x, numbers = leaf("x", (ROWS, LENGTH)), drawn(seed, ties=True)
    values, _ = by_top_k(0, x, ends, k, own, largest)
    expected, _ = by_top_k(1, numbers, ends, k, own, largest)
    np.testing.assert_array_equal(values_of(values, numbers), expected.numpy())
    numbers = drawn(seed, ties=False)
    _, expected = by_top_k(1, numbers, ends, k, own, largest)
    with untied() as told:
        _, places = by_top_k(0, x, ends, k, own, largest)
        found = values_of(places, numbers)
    np.testing.assert_array_equal(found, expected.numpy())
    assert "no two elements of a row of x are equal" in map(str, told)
    if own >= k:
        np.testing.assert_array_equal(found, numbers.topk(k, -1, largest).indices.numpy())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("of, name", [(MAX, "max"), (MIN, "min")])
def test_the_first_of_the_greatest_parts_holds_the_first_of_the_greatest(seed, of, name):
    ends, x = cuts(seed), leaf("x", (ROWS, LENGTH))
    for ties in (True, False):
        numbers = drawn(seed, ties=ties)
        best, place = by_extremes(0, x, ends, of)
        expected = getattr(numbers, name)(1, keepdim=True)
        np.testing.assert_array_equal(values_of(best, numbers), expected.values.numpy())
        np.testing.assert_array_equal(values_of(place, numbers), expected.indices.numpy())


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_the_number_that_was_chosen_is_read_where_it_stood(seed):
    x, numbers = leaf("x", (ROWS, LENGTH)), drawn(seed, ties=True)
    read = GATHER[0](x, 1, ARGMAX[0](x, 1, True))
    np.testing.assert_array_equal(values_of(read, numbers), numbers.amax(1, keepdim=True).numpy())
    for largest in (True, False):
        values, places = TOPK[0](x, 3, -1, largest)
        np.testing.assert_array_equal(values_of(GATHER[0](x, 1, places), numbers), values_of(values, numbers))


def test_a_row_that_holds_an_element_twice():
    x, numbers = leaf("x", (ROWS, LENGTH)), drawn(0, ties=False)

    def twice(side, x):
        values = TOPK[side](x, 3)[0]
        return TOPK[side](CAT[side]([SLICE[side](values, 1, 0, 1), values], 1), 2)[0]

    np.testing.assert_array_equal(values_of(twice(0, x), numbers), twice(1, numbers).numpy())


# -------------------------------------------------------------------------------------------------------------- claims


V, K, N = 12, 3, 3


def largest(x):
    values, places = x.topk(K)
    return values.softmax(-1), places


def of_parts(x, own=K, offset=V // N, wanted=K):
    found = [part.topk(own) for part in x.chunk(N, -1)]
    values, at = torch.cat([f.values for f in found], -1).topk(wanted)
    return values.softmax(-1), torch.cat([f.indices + offset * r for r, f in enumerate(found)], -1).gather(-1, at)


def gathered(x):
    """As ranks exchange them, one behind the other."""
    found, rows = [part.topk(K) for part in x.chunk(N, -1)], x.shape[0]

    def together(parts):
        return torch.cat(parts).view(N, rows, K).permute(1, 0, 2).reshape(rows, N * K)

    values, at = together([f.values for f in found]).topk(K)
    places = together([f.indices + V // N * r for r, f in enumerate(found)])
    return values.softmax(-1), torch.take_along_dim(places, at, -1)


def sorted_parts(x):
    found = [part.sort(descending=True) for part in x.split([5, 4, 3], -1)]
    values, at = torch.cat([f.values for f in found], -1).sort(descending=True)
    starts = (0, 5, 9)
    places = torch.cat([f.indices + start for start, f in zip(starts, found, strict=True)], -1)
    return values[:, :K].softmax(-1), places.gather(-1, at[:, :K])


def greedy(x):
    return x.argmax(-1)


def by_rank(x, offset=V // N):
    found = [part.max(-1) for part in x.chunk(N, -1)]
    places = torch.stack([f.indices + offset * r for r, f in enumerate(found)])
    return places.gather(0, torch.stack([f.values for f in found]).argmax(0, keepdim=True))[0]


def packed(x):
    found = [part.max(-1) for part in x.chunk(N, -1)]
    pairs = torch.stack([torch.stack([f.values, (f.indices + 4 * r).to(x.dtype)], -1) for r, f in enumerate(found)])
    return pairs[..., 1].gather(0, pairs[..., 0].argmax(0)[None])[0].long()


def chosen_log(x):
    return x.log_softmax(-1).gather(-1, x.argmax(-1, keepdim=True))[:, 0]


def highest_log(x):
    return x.amax(-1) - x.logsumexp(-1)


@pytest.mark.parametrize("left, right, condition", [
    (largest, of_parts, True), (largest, gathered, True), (largest, sorted_parts, True), (greedy, by_rank, False),
    (greedy, packed, False), (lambda x: x.topk(K).indices[:, 0], greedy, True), (chosen_log, highest_log, False),
    (lambda x: x.topk(K).values, lambda x: x.gather(-1, x.topk(K).indices), False),
])
def test_equal(left, right, condition):
    found = check(left, right, (torch.randn(2, V),), timeout=60)
    assert found.verdict == "same", found
    assert any("no two elements of a row of x are equal" in one for one in found.only) == condition


@pytest.mark.parametrize("left, right", [
    (largest, lambda x: of_parts(x, own=2)),                                     # two of a part may not be enough
    (largest, lambda x: of_parts(x, offset=V // N - 1)),
    (greedy, lambda x: by_rank(x, offset=3)),
    (greedy, lambda x: x.flip(-1).argmax(-1).neg() + V - 1),                     # the last of equal ones
    (chosen_log, lambda x: x.amin(-1) - x.logsumexp(-1)),
])
def test_not_equal(left, right):
    torch.manual_seed(3)
    assert check(left, right, (torch.randn(2, V),), timeout=20).verdict != "same"


def test_a_place_that_says_which_part_it_was_is_not_taken_for_one_in_the_row():
    """The part's number is no function of the element alone."""
    def parts_number(x):
        return of_parts(x)[1], torch.cat([part.topk(K).values for part in x.chunk(N, -1)], -1).topk(K).indices

    assert check(lambda x: (largest(x)[1], largest(x)[1]), parts_number, (torch.randn(2, V),), timeout=20).verdict == (
        "different"
    )
