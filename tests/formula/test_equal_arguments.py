"""Functions whose arguments are equal, however they are written, are one function, and are found to be before anything
is multiplied out; a form's value at one random point says which pairs are worth a proof."""

from __future__ import annotations

import pytest
from formula_claims import CLAIMS

from samesame.formula.at_random import at_random, may_be_equal
from samesame.formula.effort import Budget, spending
from samesame.formula.equal import NotProved, Proved, deep_recursion, prove_equal
from samesame.formula.expr import Sum, Unsupported, exp, index, lt, numeric, sqrt, where
from samesame.formula.laws import LAWS
from samesame.formula.normal import normal
from samesame.formula.tensor import leaf

CHANNELS, TAPS = 6, 4
old, taps, weight = (leaf(name, (CHANNELS, n)) for name, n in (("old", TAPS), ("taps", TAPS), ("weight", CHANNELS)))
tokens, out, gate = leaf("tokens", (TAPS, CHANNELS)), leaf("out", (CHANNELS,)), leaf("gate", (CHANNELS,))
new = leaf("new", (CHANNELS, TAPS))


def silu(e):
    return e / (1 + exp(-e))


def made(d, t):
    """What a token becomes in a channel."""
    return Sum(CHANNELS, lambda c: weight[d, c] * tokens[t, c])


def window(d, k, fresh):
    """The last taps of what was there and what is new, of which so many are new."""
    return where(lt(k, TAPS - fresh), old[d, k + fresh], made(d, k - (TAPS - fresh)))


def gated(convolved):
    return Sum(CHANNELS, lambda d: out[d] * silu(convolved(d)) * silu(gate[d]))


def stepwise(fresh):
    return gated(lambda d: Sum(TAPS - fresh, lambda k: old[d, k + fresh] * taps[d, k])
                 + sum(made(d, j) * taps[d, TAPS - fresh + j] for j in range(fresh)))


@pytest.mark.parametrize("fresh", [1, 2, 3])
def test_a_gate_of_a_convolution_is_the_same_step_by_step(fresh):
    def at_once(fresh):
        return gated(lambda d: Sum(TAPS, lambda k: window(d, k, fresh) * taps[d, k]))

    assert isinstance(prove_equal(stepwise(fresh), at_once(fresh), budget=Budget(seconds=5)), Proved)
    assert isinstance(prove_equal(stepwise(fresh), at_once(fresh - 1), budget=Budget(seconds=0.2)), NotProved)


def test_exponentials_of_a_product_count_together():
    a = exp(Sum(TAPS, lambda k: old[0, k])) * exp(Sum(TAPS, lambda k: new[0, k]))
    most = Sum(TAPS, lambda k: where(lt(k, 2), old[0, k] + new[0, k], 0)) + old[0, 2] + new[0, 2] + old[0, 3]
    b, c = exp(most + new[0, 3]), exp(most)
    assert isinstance(prove_equal(gate[0] * a, gate[0] * b), Proved)
    assert isinstance(prove_equal(gate[0] * a, gate[0] * c, budget=Budget(seconds=0.2)), NotProved)


def test_functions_that_sums_of_other_depths_hold_are_put_in_each_others_place():
    """Inside of the one a sum over sums binds names that around the other stand for channels."""
    a, b = leaf("a", (3, 2, 2)), leaf("b", (2, 3))

    def deep(d):
        return exp(-Sum(2, lambda k: exp(Sum(2, lambda j: a[d, k, j])) * b[k, d]))

    def flat(d):
        return exp(-sum(exp(a[d, k, 0] + a[d, k, 1]) * b[k, d] for k in range(2)))

    def total(function):
        return Sum(3, lambda d: out[d] * gate[d] / (1 + function(d)))

    assert isinstance(prove_equal(total(deep), total(flat)), Proved)
    assert isinstance(prove_equal(total(flat), total(deep)), Proved)
    assert isinstance(prove_equal(total(deep), total(lambda d: flat(0)), budget=Budget(seconds=0.2)), NotProved)


def test_the_range_of_a_bound_variable_is_all_that_is_known_of_it():
    """Two sums over different channels: what holds of some channels does not make functions equal on others."""
    def part(last, chosen):
        return Sum(last, lambda d: out[d] * exp(where(lt(d, chosen), gate[d], 0)))

    assert isinstance(prove_equal(part(4, 4), part(4, 5)), Proved)
    assert isinstance(prove_equal(part(5, 4), part(5, 5), budget=Budget(seconds=0.2)), NotProved)


@pytest.mark.parametrize("symbolic", [True, False], ids=["all sizes", "these sizes"])
def test_no_true_claim_is_told_apart_at_a_random_point(symbolic):
    worked_out = apart = 0
    for claim in CLAIMS[::20]:
        left, right, twin = claim.sides(symbolic)
        indices = tuple(index(n) for n in left.shape)
        with spending(Budget(), LAWS), deep_recursion():
            try:
                forms = [normal(numeric(side[indices])) for side in (left, right, twin)]
            except Unsupported:
                continue
            assert may_be_equal(*forms[:2]), claim.name
            worked_out += None not in map(at_random, forms)
            apart += not may_be_equal(forms[0], forms[2])
    assert worked_out > 1 and apart > worked_out // 2, (worked_out, apart)


def test_what_has_no_value_at_the_random_point_may_equal_anything():
    i, sides = index(CHANNELS), (out, gate)
    with spending(Budget(), LAWS):
        roots = [normal(sqrt(side[i])) for side in sides] + [normal(sqrt(-side[i])) for side in sides]
        assert None in map(at_random, roots) and all(may_be_equal(a, b) for a in roots for b in roots
                                                     if None in (at_random(a), at_random(b)))
        assert not may_be_equal(normal(out[i]), normal(gate[i]))
