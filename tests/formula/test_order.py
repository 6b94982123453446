"""Expressions stand in one order, which hangs on how they are built alone: not on what was met first."""

from itertools import count, permutations

from hypothesis import given
from hypothesis import strategies as st

from samesame.formula import polynomials
from samesame.formula.expr import Expr, Index, Leaf, Load, Opaque, Size, Sum, add, compare, exp, floordiv, mul, power
from samesame.formula.order import order
from samesame.formula.show import unicode
from samesame.kernels.indices import integers

RUN = count()


def terms() -> list[Expr]:
    """Terms over sizes and a tensor that nothing met before."""
    run = next(RUN)
    n, k = Size(f"n.{run}.", 1), Size(f"k.{run}.", 1)
    x = Load(Leaf(f"x.{run}.", (n,), "int"), (k,))
    return [k, n, mul(k, n), mul(n, k, k), mul(floordiv(n, 2), k), x, mul(x, n)]


def text(expr: Expr) -> str:
    """As it is printed, without the number of the run."""
    return "".join(part for k, part in enumerate(unicode(expr).split(".")) if k % 2 == 0)


def test_a_sum_reads_the_same_whichever_of_its_terms_was_met_first() -> None:
    texts = set()
    for first in permutations(range(len(terms())), 3):
        met = terms()
        for k in first:
            polynomials.polynomial(integers.plus_(met[k], 1))
        whole = integers.plus_(*(met[k] for k in first), *met)
        for k in first:
            whole = integers.minus(whole, met[k])
        texts.add((text(whole), text(integers.equal(met[0], mul(met[2], 3))), text(integers.at_most(met[5], met[4]))))
    assert len(texts) == 1, texts


N, M = Size("n", 1), Size("m", 1)
ATOMS = [N, M, Size("n", 2), Index(-1, N), Index(-2, N), Index(-2, M)]
ATOMS += [Load(Leaf("x", shape), (N,)) for shape in ((3,), (4,))]
ATOMS += [Opaque("f", attributes, (), (), "int") for attributes in ((), (1,), (1.0,))]
GROWN = [
    lambda e: st.builds(add, e, e),
    lambda e: st.builds(mul, e, e),
    lambda e: st.builds(floordiv, e, e),
    lambda e: st.builds(exp, e),
    lambda e: st.builds(lambda a: power(a, -1), e),
    lambda e: st.builds(lambda a, b: compare("<", a, b), e, e),
    lambda e: st.builds(lambda a: Sum(3, lambda v: mul(v, a)), e),
]
EXPRESSIONS = st.recursive(
    st.sampled_from(ATOMS), lambda e: st.one_of([grown(e) for grown in GROWN]), max_leaves=6
)


@given(EXPRESSIONS, EXPRESSIONS)
def test_any_two_expressions_stand_one_before_the_other(a: Expr, b: Expr) -> None:
    assert (order(a) < order(b)) + (order(b) < order(a)) == (a is not b)
