"""What proofs take for granted is data: said once, in ordinary notation, where it is meant, and never lost."""

import json

import pytest

from samesame.formula import effort
from samesame.formula.assumptions import Holds, Said, Within, decoded, holds, read_back, simplified
from samesame.formula.effort import Budget, assume, meant_under, remember, spending, unassumed
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import (
    NEG_INF,
    Fn,
    Leaf,
    Load,
    Max,
    Size,
    Sum,
    and_,
    compare,
    const,
    exp,
    index,
    le,
    log,
    lt,
    maximum,
    minimum,
    not_,
    sin,
    sqrt,
    where,
)
from samesame.formula.laws import LAWS
from samesame.formula.tensor import leaf

N, T = Size("N", 2), Size("T", 2)
x, y, m = leaf("x", (N,)), leaf("y", (N,)), leaf("m", (N,), "bool")
a, w = leaf("a", (N, T)), leaf("w", (T, N))
i, j = index(N), index(N)
PRODUCT = Sum(T, lambda k: a[i, k] * w[k, j])
MASKED = Max(N, lambda k: where(m[k], x[k], NEG_INF))
LONG = sum((Sum(N, lambda k, p=p: sin(x[k] * p) * x[k]) for p in range(1, 40)), const(0)) * y[i]

SAID = {
    "a quotient": (x[i] / x[i], 1, ["x[i] ≠ 0"]),
    "a sum under a root": (sqrt(PRODUCT) ** 2, PRODUCT, ["Σ_{k<T} a[i, k]·w[k, j] ≥ 0"]),
    "an angle": (sin(Fn("asin", x[i])), x[i], ["−1 ≤ x[i] ≤ 1"]),
    "under a mask": (where(m[i], sqrt(x[i]) ** 2, 0), where(m[i], x[i], 0), ["x[i] ≥ 0 where m[i]"]),
    "beside a mask": (where(m[i], 0, x[i] / x[i]), where(m[i], 0, 1), ["x[i] ≠ 0 where ¬m[i]"]),
    "in a sum": (Sum(N, lambda k: x[k] / x[k]), Sum(N, lambda k: 1), ["x[i] ≠ 0"]),
    "under a mask in a sum": (Sum(N, lambda k: where(m[k], x[k] / x[k], 0)), Sum(N, lambda k: where(m[k], 1, 0)),
                              ["x[i] ≠ 0 where m[i]"]),
    "under a comparison": (where(lt(x[i], 1), 0, sqrt(y[i]) ** 2), where(lt(x[i], 1), 0, y[i]),
                           ["y[i] ≥ 0 where x[i] ≥ 1"]),
    "what the comparison says": (where(lt(0, x[i]), sqrt(x[i]) ** 2, 0), where(lt(0, x[i]), x[i], 0), []),
    "one implies the others": (exp(log(x[i])) + x[i] / x[i] + sqrt(x[i]) ** 2, 2 * x[i] + 1, ["x[i] > 0"]),
    "a maximum beside a number": (maximum(y[i], MASKED), maximum(MASKED, y[i], MASKED), []),
    "maxima beside a number": (maximum(-3, MASKED, Max(N, lambda k: where(m[k], y[k], NEG_INF))),
                               maximum(Max(N, lambda k: where(m[k], maximum(x[k], y[k]), NEG_INF)), -3), []),
    "a minimum beside a number": (minimum(y[i], -MASKED), -maximum(-y[i], MASKED), []),
    "maxima beside one another": (maximum(MASKED, MASKED) + 1 - maximum(MASKED, MASKED), 1,
                                  ["max_{i<N} {x[i] if m[i] else −∞} is over at least one element"]),
    "a maximum": (MASKED + 1 - MASKED, 1, ["max_{i<N} {x[i] if m[i] else −∞} is over at least one element"]),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_taken_for_granted_is_said_in_ordinary_notation_and_where_it_is_meant(name):
    left, right, said = SAID[name]
    found = prove_equal(left, const(right))
    assert isinstance(found, Proved), found
    assert [*map(str, found.conditions)] == said


def test_all_tensors_are_known_of_what_is_too_long_to_read():
    """Of a long formula the normal form's own text is a digest, in which no name stands."""
    found = prove_equal(sqrt(LONG) ** 2, LONG, budget=Budget(seconds=30, terms=100_000))
    assert isinstance(found, Proved)
    (one,) = found.conditions
    assert one.names == {"x", "y"} and len(str(one)) < 500


def conditions_of(body):
    """What a proof that does this notes, in words."""
    with spending(Budget(), LAWS) as noted:
        body()
        return [*map(str, read_back(noted.assumed))]


def test_what_is_tried_in_vain_assumes_nothing_and_takes_nothing_from_what_comes_later():
    """A result that is remembered keeps what it rests on, whoever asked for it first."""
    from samesame.formula.normal import normal

    @remember
    def cancelled():
        return normal(x[i] / x[i])

    def body():
        with unassumed():
            cancelled()
        assert not effort.current().assumed
        cancelled()

    assert conditions_of(body) == ["x[i] ≠ 0"]
    assert conditions_of(lambda: [cancelled(), cancelled()]) == ["x[i] ≠ 0"]


def test_what_counts_is_kept_and_guards_are_added_outside():
    from samesame.formula.normal import cases, normal

    def body():
        with unassumed() as counts:
            ((guard,),) = cases(m[i])
            with meant_under([guard]):
                assume("> 0", normal(x[i]))
            counts()

    assert conditions_of(body) == ["x[i] > 0 where m[i]"]


EACH = [
    holds(lt(0, x[i]), m[i]),
    holds(not_(compare("=", PRODUCT, 0)), and_(m[i], le(j, i))),
    Within("ids", 0, N - 1),
    Within("labels", 0, 9, True),
    Said("reading", "0.1 read as {1/10}"),
    Said("ties", "no two elements of a row of {} are equal", ("x",)),
]


@pytest.mark.parametrize("one", EACH, ids=str)
def test_what_is_written_is_read_as_the_same_thing(one):
    assert decoded(json.loads(json.dumps(one.form()))) == one


@pytest.mark.parametrize("form", ["x[i] ≠ 0", {"said": 1}, {"holds": {}, "kind": ""}, None, ["x"]])
def test_nothing_else_is_read(form):
    with pytest.raises(ValueError):
        decoded(form)


def test_the_same_is_one_object_whatever_its_indices_were_called():
    k = index(N)
    assert holds(lt(0, x[i])) == holds(lt(0, x[k])) and len(simplified([holds(lt(0, x[i])), holds(lt(0, x[k]))])) == 1
    assert holds(lt(0, a[i, 0])) != holds(lt(0, x[i]))


def test_sizes_and_tensors_are_put_in_everywhere():
    """In extents and shapes, too; and what says so of sizes and tensors together is another thing."""
    one = holds(lt(0, PRODUCT), le(j, N - 1 - i))

    def put(element: Load):
        return Load(Leaf(f"{element.leaf.name}_0", element.leaf.shape), element.indices)

    found = one.changed(put, {"T": 7, "N": 3})
    assert str(found) == "Σ_{k<7} a_0[i, k]·w_0[k, j] > 0 where j ≤ 2 − i" and found.names == {"a_0", "w_0"}
    assert Within("ids", 0, N - 1).changed(None, {"N": 5}) == Within("ids", 0, 4)
    assert str(EACH[-1].changed(put)) == "no two elements of a row of x_0 are equal"


def test_only_what_is_said_elsewhere_is_left_out():
    above, level, other = holds(lt(0, x[i])), holds(le(0, x[i])), holds(not_(compare("=", x[i], 0)))
    assert simplified([level, above, other]) == (above,)
    assert simplified([level, other]) == (level, other)
    assert simplified([holds(lt(0, x[i]), m[i]), level]) == (holds(lt(0, x[i]), m[i]), level)
    assert simplified([holds(le(0, x[i]), m[i]), level]) == (level,)
    assert simplified([holds(lt(0, y[i])), level]) == (holds(lt(0, y[i])), level)
    assert isinstance(above, Holds)


def test_the_end_of_all_integers_is_no_bound_to_speak_of() -> None:
    assert str(Within("lengths", 1, 2**63 - 1)) == "1 ≤ lengths"
    assert str(Within("labels", 0, 9)) == "0 ≤ labels ≤ 9"
