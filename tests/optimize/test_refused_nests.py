"""Loop nests that compute something else than what their formulas say, each by one fault, are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from samesame.formula.expr import ONE, ZERO, Expr, Extremum, Size, Sum, compare, const, exp, where
from samesame.formula.tensor import Tensor
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Program, Rescaled, Statement, Store, When, loop
from samesame.optimize.proving import proved

K = Size("K", 1)
x, y = Buffer("x", (K,)), Buffer("y", (K,))
two, one, square = Buffer("two", (2,)), Buffer("one", (1,)), Buffer("square", (K, K))
acc, sums, scratch = Buffer("acc", ()), Buffer("sums", (K,)), Buffer("scratch", (K,))
Case = tuple[tuple[Kernel, ...], dict[str, Tensor]]


def kernel(reads: Buffer, writes: Buffer, *body: Statement) -> Kernel:
    return Kernel(f"makes_{writes.name}", (reads,), (writes,), body)


def copied(source: Buffer, target: Buffer) -> Kernel:
    k, over = loop("serial", K)
    return kernel(source, target, over(Store(target, (k,), source[k])))


def each(body: Callable[[Expr], Expr | int]) -> dict[str, Tensor]:
    return {"y": Tensor((K,), lambda i: const(body(i)))}


def read_before_it_is_written() -> Case:
    k, over = loop("serial", K)
    body = over(Store(y, (k,), acc[()]), Accumulate(acc, (), x[k]))
    return (kernel(x, y, Local(acc, "sum"), body),), each(lambda i: 0)


def read_by_what_is_added_to_it() -> Case:
    k, over = loop("serial", K)
    body = (Local(acc, "sum"), over(Accumulate(acc, (), acc[()] + x[k])), Store(one, (ZERO,), acc[()]))
    return (kernel(x, one, *body),), {"one": Tensor((1,), lambda _: Sum(K, lambda k: x[k]))}


def read_and_never_written() -> Case:
    k, over = loop("serial", K)
    return (kernel(x, y, Local(scratch), over(Store(y, (k,), scratch[k] * 0 + x[k]))),), each(lambda i: x[i])


def read_where_nothing_is_written() -> Case:
    """What was never stored may be NaN, and then zero times it is no zero."""
    (k, over), (j, again) = loop("serial", K), loop("serial", K)
    some = over(When(compare("<", 0, k), (Store(scratch, (k,), x[k]),)))
    masked = again(Store(y, (j,), scratch[j] * where(compare("<", 0, j), 1, 0)))
    return (kernel(x, y, Local(scratch), some, masked),), each(lambda i: where(compare("<", 0, i), x[i], 0))


def read_as_longer_than_it_is() -> Case:
    k, over = loop("serial", K)
    longer = Buffer("x", (2 * K,))
    return (kernel(x, y, over(Store(y, (k,), longer[k + K]))),), each(lambda i: longer[i + K])


def elements_in_one_place() -> Case:
    return (copied(x, Buffer("y", (K,), strides=(0,))),), each(lambda i: x[i])


def a_sum_read_while_it_is_rescaled() -> Case:
    top, total = Buffer("top", ()), Buffer("total", ())
    body = (
        Local(top, "max"), Local(total, "sum", top),
        Rescaled(top, (total,), (Accumulate(top, (), two[0]),)),
        Accumulate(total, (), exp(two[0] - top[()])),
        Rescaled(top, (total,), (Accumulate(top, (), two[1]), Store(one, (ZERO,), total[()]))),
    )
    last = Extremum("max", (two[0], two[1]))
    return (kernel(two, one, *body),), {"one": Tensor((1,), lambda _: exp(two[0] - last))}


def one_variable_for_two_loops() -> Case:
    (k, over), (m, rows) = loop("serial", K), loop("serial", K)
    body = (Local(sums, "sum"), over(rows(Accumulate(sums, (m,), square[m, k]))), over(Store(y, (k,), sums[k])))
    return (kernel(square, y, *body),), each(lambda i: K * square[i, i])


def a_variable_outside_of_its_loop() -> Case:
    k, _ = loop("serial", K)
    return (kernel(x, one, Store(one, (ZERO,), x[k] * 0 + 3)),), {"one": Tensor((1,), lambda _: const(3))}


def a_real_number_in_integers() -> Case:
    whole = Buffer("y", (K,), "int64")
    return (copied(x, whole),), each(lambda i: x[i])


def as_many_rounds_as_a_local_says() -> Case:
    """Two loops of acc rounds, and acc is another number in the second."""
    count, total, given = Buffer("count", (), "int64"), Buffer("total", ()), Buffer("given", (2,), "int64")
    (_, first), (_, second) = loop("serial", count[()]), loop("serial", count[()])
    body = (Local(count, "sum"), Local(acc, "sum"), Local(total, "sum"), Accumulate(count, (), given[0]),
            first(Accumulate(acc, (), ONE)), Accumulate(count, (), given[1]), second(Accumulate(total, (), ONE)),
            Store(one, (ZERO,), acc[()] - total[()]))
    return (kernel(given, one, *body),), {"one": Tensor((1,), lambda _: const(0))}


CASES = (read_before_it_is_written, read_by_what_is_added_to_it, read_and_never_written, read_where_nothing_is_written,
         read_as_longer_than_it_is, elements_in_one_place, a_sum_read_while_it_is_rescaled, one_variable_for_two_loops,
         a_variable_outside_of_its_loop, a_real_number_in_integers, as_many_rounds_as_a_local_says)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_it_is_refused(case: Callable[[], Case]) -> None:
    kernels, holds = case()
    assert not proved(Program(kernels), holds).proved


def test_loops_as_long_as_the_round_of_another_are_proved() -> None:
    """What is refused above is not refused for its shape alone."""
    j, rows = loop("parallel", K)
    k, over = loop("serial", j + 1)
    body = rows(Local(acc, "sum"), over(Accumulate(acc, (), x[k])), Store(y, (j,), acc[()]))
    assert proved(Program((kernel(x, y, body),)), each(lambda i: Sum(i + 1, lambda k: x[k]))).proved
