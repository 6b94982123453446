"""A loop nest means what its loops fold, for every size and every tile; nests without a meaning are refused."""

from __future__ import annotations

import pytest

from samesame.formula.expr import Expr, Max, Size, Sum, compare, exp, floordiv, mod, where
from samesame.formula.tensor import Tensor
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Loop, Program, Rescaled, Store, When, bound, loop
from samesame.optimize.ir import symbols as symbols_of
from samesame.optimize.meaning import Malformed, meaning
from samesame.optimize.proving import proved, require_order

M, N, K, C, T, B = (Size(name, 1) for name in "MNKCTB")
x, w, packed, y = Buffer("x", (M, K)), Buffer("w", (N, K)), None, Buffer("y", (M, N))
BEFORE_THE_END = "before_the_end"


def tiles(size: Expr, tile: Expr) -> Expr:
    return floordiv(size + tile - 1, tile)


packed = Buffer("packed", (tiles(N, T), K, T))
HOLDS = {
    "packed": Tensor(packed.shape, lambda a, k, j: where(compare("<", a * T + j, N), w[a * T + j, k], 0)),
    "y": Tensor(y.shape, lambda m, n: Sum(K, lambda k: x[m, k] * packed[floordiv(n, T), k, mod(n, T)])),
}


def packing() -> Kernel:
    a, grid = loop("parallel", tiles(N, T))
    k, depth = loop("serial", K)
    j, lanes = loop("vector", T)
    value = where(compare("<", a * T + j, N), w[a * T + j, k], 0)
    return Kernel("pack", (w,), (packed,), (grid(depth(lanes(Store(packed, (a, k, j), value)))),), ahead=True)


def product(fault: str = "") -> Kernel:
    """y = x·wᵀ from packed panels, in tiles of B rows and T lanes."""
    acc = Buffer("acc", (B, T))
    t, grid = loop("parallel", tiles(N, T) if fault != "a tile too few" else floordiv(N, T))
    b, rows = loop("serial", tiles(M, B))
    k, depth = loop("parallel" if fault == "parallel fold" else "serial", K)
    m, inside = loop("unrolled", B)
    i, lanes = loop("vector", T if fault != "wide tile" else 2 * T)
    m2, inside2 = loop("unrolled", B)
    j, lanes2 = loop("vector", T)
    row, row2 = b * B + m, b * B + m2
    there = compare("<", t * T + j, N)
    local = Local(acc, "sum" if fault != "max" else "max")
    term = Accumulate(acc, (m, i), x[row, k if fault != "index" else 0] * packed[t, k, i])
    fold = depth(inside(When(compare("<", row, M), (lanes(term),))))
    out = Store(y, (row2, t * T + j), acc[m2, j])
    ragged = lanes2(out if fault == "no guard" else When(there, (out,)))
    stored = inside2(When(compare("<", row2, M), (ragged,)))
    if fault == BEFORE_THE_END:
        return Kernel("product", (x, packed), (y,), (grid(rows(local, depth(*fold.body, stored))),))
    body = (fold, stored) if fault == "undeclared" else (local, fold) if fault == "unwritten" else (local, fold, stored)
    return Kernel("product", (x, packed), (y,), (grid(rows(*body)),))


def attention(fault: str = "") -> Kernel:
    """Σ_n exp(s − max s)·v / Σ_n exp(s − max s) in tiles of T keys, online."""
    maximum, total, sums = Buffer("maximum", ()), Buffer("total", ()), Buffer("sums", (C,))
    scores = Buffer("scores", (T,))
    s, v = Buffer("s", (M, N)), Buffer("v", (N, C))
    m, grid = loop("parallel", M)
    t, over = loop("serial", tiles(N, T))
    (a, la), (b, lb), (d, ld), (e, le) = (loop("vector", T) for _ in range(4))
    c, lc = loop("vector", C)
    c2, lc2 = loop("vector", C)

    def ragged(i: Expr, *body: Accumulate | Store | Loop) -> When:
        return When(compare("<", t * T + i, N), body)

    both = (total, sums) if fault != "one sum is not rescaled" else (total,)
    raise_it = lb(ragged(b, Accumulate(maximum, (), scores[b])))
    once = exp(scores[e] - maximum[()]) if fault != "not scaled" else exp(scores[e])
    body = (
        Local(scores),
        la(ragged(a, Store(scores, (a,), s[m, t * T + a]))),
        Rescaled(maximum, both, (raise_it,)) if fault != "no rescaling" else raise_it,
        ld(ragged(d, Accumulate(total, (), exp(scores[d] - maximum[()])))),
        le(ragged(e, lc(Accumulate(sums, (c,), once * v[t * T + e, c])))),
    )
    kernel = grid(
        Local(maximum, "max"), Local(total, "sum", maximum), Local(sums, "sum", maximum), over(*body),
        lc2(Store(Buffer("out", (M, C)), (m, c2), sums[c2] / total[()])),
    )
    return Kernel("attention", (s, v), (Buffer("out", (M, C)),), (kernel,))


def softmax(m: Expr, c: Expr) -> Expr:
    s, v = Buffer("s", (M, N)), Buffer("v", (N, C))
    top = Max(N, lambda n: s[m, n])
    return Sum(N, lambda n: exp(s[m, n] - top) * v[n, c]) / Sum(N, lambda n: exp(s[m, n] - top))


ATTENDED = {"out": Tensor((M, C), softmax)}


def test_a_tiled_product_is_proved_for_every_tile() -> None:
    checked = proved(Program((packing(), product())), HOLDS)
    assert checked.proved and not checked.conditions, checked.reason


def test_an_online_softmax_is_proved_for_every_tile() -> None:
    assert proved(Program((attention(),)), ATTENDED).proved


@pytest.mark.parametrize("fault", ["a tile too few", "wide tile", "max", "index", "no guard", "undeclared",
                                   "unwritten", "parallel fold", BEFORE_THE_END])
def test_a_wrong_product_is_refused(fault: str) -> None:
    assert not proved(Program((packing(), product(fault))), HOLDS).proved


@pytest.mark.parametrize("fault", ["one sum is not rescaled", "not scaled", "no rescaling"])
def test_a_wrong_online_softmax_is_refused(fault: str) -> None:
    assert not proved(Program((attention(fault),)), ATTENDED).proved


def test_parallel_rounds_must_not_write_one_element() -> None:
    n, grid = loop("parallel", N)
    with pytest.raises(Malformed, match="in parallel"):
        meaning(Kernel("race", (x,), (y,), (grid(Store(y, (0, 0), x[0, n])),)))


def test_split_k_needs_its_sum() -> None:
    """Partial sums of P parts, stored side by side, and folded by a later kernel."""
    parts = Size("P", 1)
    v, some, total = Buffer("v", (K,)), Buffer("some", (parts,)), Buffer("total", (1,))
    acc, whole = Buffer("acc", ()), Buffer("whole", ())
    width = tiles(K, parts)

    def partial() -> Kernel:
        p, grid = loop("parallel", parts)
        k, depth = loop("serial", width)
        there = compare("<", p * width + k, K)
        return Kernel("partial", (v,), (some,), (grid(
            Local(acc, "sum"), depth(When(there, (Accumulate(acc, (), v[p * width + k]),))), Store(some, (p,), acc[()]),
        ),))

    def summed(first_only: bool) -> Kernel:
        p, over = loop("serial", parts)
        fold = Accumulate(whole, (), some[0 if first_only else p])
        return Kernel("sum", (some,), (total,), (Local(whole, "sum"), over(fold), Store(total, (0,), whole[()])))

    def part(p: Expr) -> Expr:
        return Sum(width, lambda k: where(compare("<", p * width + k, K), v[p * width + k], 0))

    holds = {"some": Tensor((parts,), part), "total": Tensor((1,), lambda _: Sum(parts, lambda p: some[p]))}
    assert proved(Program((partial(), summed(False))), holds).proved
    assert not proved(Program((partial(), summed(True))), holds).proved


def test_kernels_run_in_an_order_that_makes_what_they_read() -> None:
    made = {"packed", "y"}
    require_order(Program((packing(), product())), made, ["w"])
    with pytest.raises(Malformed, match="before it is written"):
        require_order(Program((product(), packing())), made, ["w"])
    with pytest.raises(Malformed, match="no weight"):
        require_order(Program((packing(), product())), made, [])
    with pytest.raises(Malformed, match="not its to write"):
        require_order(Program((packing(), packing())), made, ["w"])
    other = Kernel("other", (Buffer("packed", (N,)),), (), ())
    with pytest.raises(Malformed, match="two buffers"):
        require_order(Program((packing(), other)), made, ["w"])
    with pytest.raises(Malformed, match="each call returns anew"):
        require_order(Program((packing(), product())), made, ["w"], ["packed"])


def test_a_buffer_is_read_in_its_own_shape() -> None:
    """Else what is in range of one would be taken for in range of the other."""
    n, over = loop("parallel", 2 * N)
    large, z = Buffer("v", (2 * N,)), Buffer("z", (2 * N,))
    with pytest.raises(Malformed, match="another shape"):
        meaning(Kernel("wrong", (Buffer("v", (N,)),), (z,), (over(Store(z, (n,), large[n])),)))


def test_numbers_in_place_of_symbols() -> None:
    """A bound program has no symbols, and means the same at these numbers."""
    numbers = {"M": 3, "N": 37, "K": 5, "T": 16, "B": 2}
    program = bound(Program((packing(), product())), numbers)
    assert not symbols_of(program)
    assert [buffer.shape for buffer in program.kernels[0].writes] == [(3, 5, 16)]
    assert program.kernels[1].reads[1] == program.kernels[0].writes[0]


def test_a_long_recursion_is_looked_at_once() -> None:
    """Each value reads the one before twice: as a tree it has 2⁴⁰ parts."""
    a, b = Buffer("a", (M,)), Buffer("b", (M,))
    i, over = loop("vector", M)
    value = a[i]
    for _ in range(40):
        value = exp(value) * (value + 1)
    program = Program((Kernel("recursion", (a,), (b,), (over(Store(b, (i,), value)),)),))
    assert proved(program, {"b": Tensor((M,), lambda i: value_at(a, i, 40))}).proved


def value_at(a: Buffer, i: Expr, steps: int) -> Expr:
    value = a[i]
    for _ in range(steps):
        value = exp(value) * (value + 1)
    return value


def test_stores_of_one_loop_may_stand_beside_one_another() -> None:
    """At numbers that are not the same ones: what is at each is what was stored there."""
    wide, z = Buffer("x", (M, 4)), Buffer("z", (M, 2))
    m, rows = loop("vector", M)

    def stored(*places: Expr | int) -> Program:
        stores = [Store(z, (m, place), wide[m, k] + k) for k, place in enumerate(places)]
        return Program((Kernel("pairs", (wide,), (z,), (rows(*stores),)),))

    held, turned = (Tensor(z.shape, lambda a, k, first=first: where(
        compare("<", k, 1), wide[a, first] + first, wide[a, 1 - first] + 1 - first)) for first in (0, 1))
    assert proved(stored(0, 1), {"z": held}).proved and proved(stored(1, 0), {"z": turned}).proved
    assert not proved(stored(0, 1), {"z": turned}).proved and not proved(stored(0), {"z": held}).proved
    for meeting in ((1, 1), (1, m)):
        with pytest.raises(Malformed, match="written twice"):
            meaning(stored(*meeting).kernels[0])
