"""Where an expression over loop variables is said to lie it lies, and what a condition is said to be it is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from samesame.formula.expr import Expr, add, const, eq, floordiv, index, le, lt, maximum, minimum, mod, mul, not_, where
from samesame.optimize.emit.ranges import Span, Spans

Compute = Callable[[int, int], int]
I, J = index(9), index(7)  # noqa: E741    loop variables, as they are called
WHOLE = Spans({I: Span("i", 0, 8), J: Span("j", 0, 6)})
COMPARE = {"<": (lt, lambda a, b: a < b), "≤": (le, lambda a, b: a <= b), "=": (eq, lambda a, b: a == b)}


def numbers() -> st.SearchStrategy[tuple[Expr, Compute]]:
    """Expressions with the functions that compute them from values of both loop variables."""
    leaves = st.one_of(
        st.integers(-3, 9).map(lambda n: (const(n), lambda i, j: n)),
        st.just((I, lambda i, j: i)),
        st.just((J, lambda i, j: j)),
    )

    def grown(inner: st.SearchStrategy[tuple[Expr, Compute]]) -> st.SearchStrategy[tuple[Expr, Compute]]:
        pair, scaled = st.tuples(inner, inner), st.tuples(inner, st.integers(1, 5))
        return st.one_of(
            pair.map(lambda p: (add(p[0][0], p[1][0]), lambda i, j: p[0][1](i, j) + p[1][1](i, j))),
            pair.map(lambda p: (maximum(p[0][0], p[1][0]), lambda i, j: max(p[0][1](i, j), p[1][1](i, j)))),
            pair.map(lambda p: (minimum(p[0][0], p[1][0]), lambda i, j: min(p[0][1](i, j), p[1][1](i, j)))),
            pair.map(lambda p: (
                where(lt(p[0][0], 3), p[0][0], p[1][0]),
                lambda i, j: p[0][1](i, j) if p[0][1](i, j) < 3 else p[1][1](i, j),
            )),
            scaled.map(lambda p: (mul(-p[1], p[0][0]), lambda i, j: -p[1] * p[0][1](i, j))),
            scaled.map(lambda p: (floordiv(p[0][0], p[1]), lambda i, j: p[0][1](i, j) // p[1])),
            scaled.map(lambda p: (mod(p[0][0], p[1]), lambda i, j: p[0][1](i, j) % p[1])),
            scaled.map(lambda p: (floordiv(p[0][0], add(J, p[1])), lambda i, j: p[0][1](i, j) // (j + p[1]))),
            scaled.map(lambda p: (mod(p[0][0], add(J, p[1])), lambda i, j: p[0][1](i, j) % (j + p[1]))),
        )

    return st.recursive(leaves, grown, max_leaves=6)


def spans() -> st.SearchStrategy[Spans]:
    def span(text: str, most: int) -> st.SearchStrategy[Span]:
        return st.lists(st.integers(0, most), min_size=2, max_size=2).map(sorted).map(lambda ends: Span(text, *ends))

    return st.tuples(span("i", 8), span("j", 6)).map(lambda found: Spans(zip((I, J), found, strict=True)))


def values(inside: Spans, compute: Compute) -> list[int]:
    return [compute(i, j) for i, j in product(*(range(inside[v].low, inside[v].high + 1) for v in (I, J)))]


@given(spans(), numbers())
@example(WHOLE, (floordiv(I, add(J, 1)), lambda i, j: i // (j + 1)))
@example(WHOLE, (floordiv(add(I, -20), add(J, 1)), lambda i, j: (i - 20) // (j + 1)))
def test_an_expression_lies_in_its_bounds(inside: Spans, number: tuple[Expr, Compute]) -> None:
    expr, compute = number
    low, high = inside.bounds(expr)
    assert all(low <= value <= high for value in values(inside, compute))


@given(spans(), numbers(), numbers(), st.sampled_from(["<", "≤", "="]), st.booleans())
def test_a_condition_that_is_decided_is_so_for_all_values(
    inside: Spans, one: tuple[Expr, Compute], other: tuple[Expr, Compute], op: str, turned: bool
) -> None:
    make, holds = COMPARE[op]
    condition = make(one[0], other[0])
    decided = inside.decide(not_(condition) if turned else condition)
    found = {holds(a, b) != turned for a, b in zip(values(inside, one[1]), values(inside, other[1]), strict=True)}
    assert decided is None or found == {decided}
