"""What must never be proved: the ways in which a prover of this kind has been wrong, and random wrong changes."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from all_claims import ALL
from formula_claims import CLAIMS
from formula_mutations import as_tensor, differ, leaf_values, mutate, random_formula

from samesame.formula import rewrite
from samesame.formula.effort import Budget, spending
from samesame.formula.equal import NotProved, Proved, prove_equal, prove_tensors_equal
from samesame.formula.expr import (
    NEG_INF,
    Lambda,
    Max,
    Opaque,
    Size,
    Sum,
    absolute,
    and_,
    compare,
    const,
    eq,
    exp,
    fn,
    fold,
    index,
    le,
    log,
    lt,
    maximum,
    minimum,
    mul,
    not_,
    or_,
    power,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from samesame.formula.laws import LAWS
from samesame.formula.poly import Var, number, variable
from samesame.formula.rewrite import BinderEscape, check_closed
from samesame.formula.tensor import leaf, tensor
from samesame.formula.terms import of_poly

N, M = Size("N", 1), Size("M", 1)
i, j = index(N), index(M)
x, y = leaf("x", (N,)), leaf("y", (N,))
z = leaf("z", (N, M))
flag = leaf("flag", (N,), "bool")
row = leaf("row", (N, M), "bool")
ids = leaf("ids", (N,), "int", (0, N - 1))


def proved(left, right):
    return isinstance(prove_equal(const(left), const(right)), Proved)


# ---------------------------------------------------------------------------------------- how a first version was wrong


def test_a_quotient_by_zero_is_undefined_not_zero():
    nothing = x[i] - x[i]
    assert not proved(x[i] + x[i] / nothing, x[i])
    assert not proved(mul(0, power(nothing, -1)), 0)
    assert not proved(where(flag[i], x[i] / nothing, y[i]), where(flag[i], 0, y[i]))
    assert proved(where(lt(i, N), x[i], x[i] / nothing), x[i])  # the branch not taken may be undefined


def test_plus_infinity_is_refused():
    masked = where(flag[i], NEG_INF, x[i])
    assert not proved(x[i] - masked, x[i] - masked + 1)
    assert not proved(exp(x[i] - masked), 0)
    assert not proved(-masked, masked)


def test_minus_infinity_needs_a_positive_factor():
    assert not proved(exp(x[i] * NEG_INF), 0)
    assert not proved(exp(where(flag[i], 1, 0) * NEG_INF), where(flag[i], 0, 1))  # 0 · −∞ is not 0
    assert proved(exp(2 * const(NEG_INF)), 0)
    assert proved(exp(NEG_INF), 0)


def test_a_denominator_that_may_be_an_empty_sum_is_not_cleared():
    first = Sum(i, lambda k: x[k])  # empty at i = 0
    assert not proved(first / first, 1)
    assert not proved(mul(0, power(first, -1)), 0)
    masked = Sum(M, lambda k: where(row[i, k], exp(z[i, k]), 0))  # empty where the whole row is masked
    assert not proved(masked / masked, 1)
    assert not proved(Sum(M, lambda k: where(row[i, k], exp(z[i, k]), 0) / masked), 1)
    whole = Sum(M, lambda k: exp(z[i, k]))
    assert proved(Sum(M, lambda k: exp(z[i, k]) / whole), 1)


def test_a_fully_masked_row_is_not_a_uniform_one():
    def softmax(score):
        return lambda k: exp(score(k)) / Sum(M, lambda m: exp(score(m)))

    masked = softmax(lambda k: where(row[i, k], z[i, k], NEG_INF))
    everywhere = softmax(lambda k: z[i, k])
    assert proved(Sum(M, lambda k: masked(k)), Sum(M, lambda k: masked(k)))
    assert not proved(Sum(M, lambda k: masked(k)), Sum(M, lambda k: everywhere(k)))


def test_a_factor_stays_under_its_binder():
    inner = Sum(M, lambda k: z[i, k] * Sum(M, lambda m: z[i, m] * z[i, k]))
    assert proved(inner, Sum(M, lambda k: z[i, k] * z[i, k]) * Sum(M, lambda m: z[i, m]))
    assert not proved(inner, Sum(M, lambda k: z[i, k]) * Sum(M, lambda k: z[i, k] * z[i, k]) * z[i, 0])
    # a load under exp takes the place of a bound variable, and multiplies out under the outer sum
    left = Sum(N, lambda n: where(eq(n, ids[i]), exp(Sum(M, lambda k: z[n, k])) * Sum(M, lambda k: z[n, k]), 0))
    assert proved(left, exp(Sum(M, lambda k: z[ids[i], k])) * Sum(M, lambda k: z[ids[i], k]))


def test_an_escaped_variable_is_an_internal_error():
    with spending(Budget(), LAWS):
        v = Var("open", (0,), number(0), number(3))
        with pytest.raises(BinderEscape):
            check_closed(of_poly(variable(v)), frozenset(), "a test")


def test_the_check_is_on_in_every_product(monkeypatch):
    """A multiplication that forgets the binder is caught at once, and nothing is proved."""
    honest = rewrite.opened

    def forgetful(term, first):
        bound, guards, factors = honest(term, first)
        return bound[1:], guards, factors

    monkeypatch.setattr(rewrite, "opened", forgetful)
    answer = prove_equal(Sum(M, lambda k: z[i, k]) * x[i], Sum(M, lambda k: z[i, k]) * x[i] + 0 * x[i] + y[i])
    assert isinstance(answer, NotProved)
    assert "escape" in answer.reason


def test_joined_domains_forget_their_old_ranges():
    """After Σ_{k<N} + Σ_{N≤k<N+M} join, k mod N is no longer k."""
    w, u = leaf("w", (N + M,)), leaf("u", (N,))
    joined = Sum(N, lambda k: w[k]) + Sum(M, lambda k: w[k + N])
    assert proved(joined, Sum(N + M, lambda k: w[k]))
    left = Sum(N, lambda k: w[k] * u[k % N]) + Sum(M, lambda k: w[k + N] * u[(k + N) % N])
    assert not proved(left, Sum(N + M, lambda k: w[k] * u[where(lt(k, N), k, 0)]))


def test_variables_that_a_body_does_not_tell_apart_may_change_places_where_domains_join():
    """Over a square, half of the rows and half of the columns of what is symmetric are the whole; of nothing else."""
    a, b = leaf("a", (N + M,)), leaf("b", (N + M,))

    def halves(f, g):
        rows = Sum(N, lambda k: Sum(N + M, lambda m: f[k] * g[m]))
        return rows + Sum(N + M, lambda k: Sum(M, lambda m: f[k] * g[m + N]))

    def whole(f):
        return Sum(N + M, lambda k: f[k])

    def root(form):
        return (1 + form * form) ** Fraction(-1, 2)        # where nothing cancels, both have to be written alike

    assert proved(root(halves(a, a)), root(whole(a) * whole(a)))
    assert not proved(root(halves(a, b)), root(whole(a) * whole(b)))
    overlapping = halves(a, a) + Sum(N + M, lambda k: Sum(N, lambda m: a[k] * a[m]))
    assert not proved(root(overlapping), root(2 * whole(a) * whole(a)))


def test_guards_do_not_prune_other_cells():
    """What holds where one guard holds is not used elsewhere."""
    part = where(lt(i, 3), Sum(i, lambda k: x[k]), Sum(N, lambda k: x[k]))
    assert not proved(part, Sum(N, lambda k: x[k]))
    assert not proved(where(lt(i, 3), x[0], y[0]) + x[i], x[0] + x[i])


def test_a_range_that_may_be_empty_counts_nothing_and_not_less():
    def ones(low, high, body=1):
        return Sum(N, lambda k: where(and_(le(low, k), lt(k, high)), body, 0))

    for left, right in ((ones(j, N), N - j), (ones(j, i), i - j), (ones(j, N, x[i]), x[i] * (N - j))):
        assert isinstance(prove_equal(left, right, budget=Budget(seconds=0.5)), NotProved)
    assert isinstance(prove_equal(ones(i, N), N - i), Proved), "an index of N is below N"


# ---------------------------------------------------------------------------------------------------- conditions listed


def test_conditions_are_listed():
    answer = prove_equal(x[i] / x[i], const(1))
    assert isinstance(answer, Proved)
    assert [*map(str, answer.conditions)] == ["x[i] ≠ 0"]
    answer = prove_equal(exp(log(x[i])), x[i])
    assert isinstance(answer, Proved)
    assert [*map(str, answer.conditions)] == ["x[i] > 0"]
    answer = prove_equal(x[ids[i]], Sum(N, lambda k: where(eq(k, ids[i]), x[k], 0)))
    assert isinstance(answer, Proved)
    assert [*map(str, answer.conditions)] == ["0 ≤ ids ≤ N − 1"]


def test_an_index_is_not_generically_nonzero():
    assert not proved(i / i, 1)
    assert not proved(x[i] * i / i, x[i])
    assert proved((i + 1) / (i + 1), 1)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sqrt(x[i] * x[i]), x[i]),
        (absolute(x[i] + y[i]), absolute(x[i]) + absolute(y[i])),
        (maximum(x[i], 0) + minimum(x[i], 0), absolute(x[i])),
        (exp(x[i]) * exp(y[i]), exp(x[i] * y[i])),
        (tanh(x[i]), sigmoid(x[i])),
        (fn("erf")(x[i]), fn("erf")(-x[i])),
        (fn("cos")(x[i]), -fn("cos")(-x[i])),
        (fn("floor")(x[i]), x[i]),
        (where(lt(x[i], y[i]), 1, 0), where(le(x[i], y[i]), 1, 0)),
        (where(flag[i], 1, 0), 1),
        (where(or_(flag[i], lt(0, x[i])), 1, 0), where(flag[i], 1, 0)),
        (Max(M, lambda k: z[i, k]) + 1, Max(M, lambda k: 2 * z[i, k] + 1)),
        (Max(M, lambda k: -z[i, k]), -Max(M, lambda k: z[i, k])),
        (maximum(Max(2, lambda k: x[k]), Max(2, lambda k: x[k + 4])), Max(6, lambda k: x[k])),  # 2 and 3 are missing
        (Sum(3, lambda k: x[k]) + Sum(3, lambda k: x[k + 2]), Sum(5, lambda k: x[k])),  # 2 counts twice
        (fold("any", M, lambda k: row[i, k]), fold("all", M, lambda k: row[i, k])),
        (fold("any", M, lambda k: lt(k, 1)), fold("any", M, lambda k: lt(k, 0))),
        (fold("prod", 3, lambda k: x[0] + k), x[0] * x[0] * x[0]),
        (i // 2, i % 2),
        ((i + j) // 2, i // 2 + j // 2),
        (where(lt(i, 5), 1, 0) * x[i], x[i]),
        (Sum(i, lambda k: 1), i + 1),
        (Sum(i - 3, lambda k: 1), i - 3),  # an empty sum is 0, not negative
    ],
)
def test_false_equalities_are_not_proved(left, right):
    assert not proved(left, right)


def test_logarithms_of_a_product_are_their_sum_under_conditions():
    """Of two negative numbers the product has a logarithm, and they have none."""
    found = prove_equal(log(x[i] * y[i]), log(x[i]) + log(y[i]))
    assert not isinstance(found, Proved) or {"x[i] > 0", "y[i] > 0"} <= set(map(str, found.conditions))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sqrt(x[i]) * sqrt(x[i]), x[i]),
        (log(exp(x[i])), x[i]),
        (log(exp(x[i]) * exp(y[i])), x[i] + y[i]),
        (maximum(x[i], -x[i]), absolute(x[i])),
        (maximum(x[i], 0) + minimum(x[i], 0), x[i]),
        (maximum(x[i], y[i]), maximum(y[i], x[i])),
        (where(le(x[i], y[i]), y[i], x[i]), maximum(x[i], y[i])),
        (where(lt(x[i], y[i]), 1, 0), where(le(y[i], x[i]), 0, 1)),
        (where(compare(">", x[i], 0), 1, 0), where(lt(-x[i], 0), 1, 0)),
        (fn("tan")(x[i]), fn("sin")(x[i]) / fn("cos")(x[i])),
        (fn("sin")(-x[i]) * fn("erf")(-y[i]), fn("sin")(x[i]) * fn("erf")(y[i])),
        (fn("floor")(i / 2), i // 2),
        (fold("any", M, lambda k: lt(k, 1)), True),
        (fold("all", M, lambda k: lt(k, M)), True),
        (fold("any", N, lambda k: and_(le(k, i), le(i, k + 4))), True),
        (fold("prod", 3, lambda k: x[0] + k), x[0] * (x[0] + 1) * (x[0] + 2)),
        (not_(fold("any", M, lambda k: row[i, k])), fold("all", M, lambda k: not_(row[i, k]))),
        (log(exp(z[i, 0]) + Sum(M, lambda k: where(lt(0, k), exp(z[i, k]), 0))), log(Sum(M, lambda k: exp(z[i, k])))),
        (maximum(i, 3), where(lt(i, 3), 3, i)),
        (exp(sigmoid(-x[i])), exp(1 - sigmoid(x[i]))),
        (fn("sin")(x[i] / (x[i] + y[i]) + y[i] / (x[i] + y[i])), fn("sin")(const(1))),
        (log(exp(x[0]) + exp(x[1])), log(Sum(2, lambda k: exp(x[k])))),
        (x[minimum(i, N - 1)], x[i]),
        ((i * 4 + 3) // 4, i),
        (Sum(i, lambda k: 1), i),
        (exp(where(flag[i], x[i], NEG_INF)), where(flag[i], exp(x[i]), 0)),
        (where(eq(where(flag[i], x[i], NEG_INF), NEG_INF), 0, 1), where(flag[i], 1, 0)),
    ],
)
def test_laws_are_proved(left, right):
    assert proved(left, right)


def test_opaque_results_are_equal_only_for_equal_arguments():
    def call(body, attributes=(), at=i):
        k = index(N)
        return Opaque("sort", attributes, (Lambda((k,), body(k)),), (at,), "real")

    assert proved(call(lambda k: x[k] * y[k]), call(lambda k: y[k] * x[k]))
    assert proved(call(lambda k: Sum(M, lambda m: z[k, m])), call(lambda k: Sum(M, lambda m: z[k, M - 1 - m])))
    assert not proved(call(lambda k: x[k]), call(lambda k: y[k]))
    assert not proved(call(lambda k: x[k]), call(lambda k: x[N - 1 - k]))
    assert not proved(call(lambda k: x[k], (1,)), call(lambda k: x[k], (2,)))
    assert not proved(call(lambda k: x[k], (1,)), call(lambda k: x[k], (True,)))
    assert not proved(call(lambda k: x[k], at=i), call(lambda k: x[k], at=const(0)))
    assert proved(call(lambda k: x[k], at=where(lt(i, N), i, 0)), call(lambda k: x[k]))


def test_an_opaque_index_selects_like_any_other():
    k = index(N)
    best = Opaque("argmax", (), (Lambda((k,), x[k]),), (), "int")
    assert (
        proved(y[best], Sum(N, lambda n: where(eq(n, best), y[n], 0))) is False
    )  # it may lie outside, for all we know
    assert proved(y[best] * x[best], x[best] * y[best])


# -------------------------------------------------------------------------------------------------------------- budgets


def test_every_limit_is_named():
    wide = tensor((N,), lambda n: power(Sum(M, lambda k: z[n, k]) + x[n] + y[n] + 1, 12))
    off = tensor((N,), lambda n: power(Sum(M, lambda k: z[n, k]) + x[n] + y[n] + 1, 12) + 1)
    answer = prove_tensors_equal(wide, off, budget=Budget(terms=20))
    assert isinstance(answer, NotProved)
    assert "terms" in answer.reason
    answer = prove_tensors_equal(wide, off, budget=Budget(seconds=0.01))
    assert isinstance(answer, NotProved)
    assert "seconds" in answer.reason


def test_hard_input_is_not_proved_and_raises_nothing():
    deep = x[i]
    for _ in range(3000):
        deep = exp(deep) + 1
    assert isinstance(prove_equal(deep, deep + 1), NotProved)
    assert isinstance(prove_equal(fn("mystery")(NEG_INF), const(0)), NotProved)
    assert isinstance(prove_equal(x[i % (M - M)], x[i]), NotProved)


def test_nothing_is_remembered_between_proofs():
    from samesame.formula.poly import _table

    prove_equal(x[i] * x[i], x[i] * y[i])
    assert not _table.held


# ------------------------------------------------------------------------------------------------------------ mutations


THEMES = ("maxima and activations", "logarithms and shared arguments", "tilings")
BEYOND = [claim for claim in ALL if claim.theme in THEMES]


def random_inputs(claim, seed):
    draw = np.random.default_rng(seed)
    env, *_ = claim.arrays(False)
    found = {}
    for name, spec in claim.inputs.items():
        whole = isinstance(spec, tuple)
        shape = tuple(eval(s, {}, vars(env)) for s in (spec[1] if whole else spec).split())
        found[name] = draw.integers(0, eval(spec[2], {}, vars(env)), shape) if whole else draw.normal(size=shape)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_changed_programs_that_differ_are_not_proved(seed):
    """Random small changes to one side of true claims: whatever then differs numerically is never proved equal."""
    random = Random(seed)
    compared = 0
    while compared < 20:
        claim = random.choice(CLAIMS if seed % 2 else BEYOND)
        left, right, _ = claim.sides(False)
        indices, expr = right.element()
        mutant = mutate(expr, random)
        if mutant is None:
            continue
        changed = as_tensor(left.shape, indices, mutant)
        if differ(left, changed, [random_inputs(claim, k) for k in (1, 2)]):
            compared += 1
            answer = prove_tensors_equal(left, changed, budget=Budget(seconds=2))
            assert isinstance(answer, NotProved), f"{claim.name}: {mutant!r}"
            assert "internal" not in answer.reason


@pytest.mark.parametrize("seed", range(6))
def test_changed_random_formulas_that_differ_are_not_proved(seed):
    """The same for random formulas with masks, maxima, quotients, conditional and looked-up indices."""
    random = Random(seed)
    draws = [leaf_values(k) for k in range(4)]
    compared = 0
    while compared < 27:
        v = index(3)
        expr = random_formula(random, [(v, 3)], random.choice((2, 3)))
        mutant = mutate(expr, random)
        if mutant is None:
            continue
        left, right = as_tensor((3,), (v,), expr), as_tensor((3,), (v,), mutant)
        if differ(left, right, draws):
            compared += 1
            answer = prove_tensors_equal(left, right, budget=Budget(seconds=1))
            assert isinstance(answer, NotProved), f"{expr!r}\n{mutant!r}"
            assert "internal" not in answer.reason
