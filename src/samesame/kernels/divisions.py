"""Divisions that leave no rest: what a kernel may need of sizes beside limits.

A kernel that takes a row in groups of 32, or in two halves, is right where 32 or 2 divides its length, and nobody
writes a mask for what is left over. Such a need shows in what is divided: a shape of ⌊N/32⌋, an offset of ⌊D/2⌋. So
each division of sizes that leaves no rest in the example is a contract that may be stated, in the words of `--assume`.
Whether it helps is seen when the launch is lifted under it. That there are ⌊N/32⌋ programs or rounds is no sign: this
is what forgets the last tile, and nobody said that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from samesame.formula.expr import Expr, FloorDiv, Index, Size, const, walk
from samesame.formula.polynomials import polynomial
from samesame.formula.sizes import value_at
from samesame.kernels.execution.symbolic import Machine
from samesame.kernels.indices import integers
from samesame.kernels.obligations import Kernel

Division = tuple[Expr, Expr]  # a polynomial in sizes, and what divides it


def divisions(kernel: Kernel) -> list[str]:
    """The contracts `a % c == 0` that would be news, for sizes a and c in what the kernel divides."""
    launch = kernel.machine.launch
    found = dict.fromkeys(
        (a, c)
        for a, c in divided(numbers_in(kernel))
        if leaves_no_rest(a, c, launch.example) and not is_known(a, c, kernel.machine)
    )
    most = [(a, c) for a, c in found if not any(a is b and c is not d and divides(c, d) for b, d in found)]
    return [f"({text(a)}) % ({text(c)}) == 0" for a, c in most]


def numbers_in(kernel: Kernel) -> Iterator[Expr]:
    for access in (*kernel.reads, *kernel.writes):
        yield from (access.offset, access.condition)
        yield from (integers.tidied(const(n)) for n in (*access.memory.shape, *access.memory.strides))


def divided(numbers: Iterable[Expr]) -> Iterator[Division]:
    """What is divided by what, where both are sizes. ⌊(N + 31)/32⌋ is none of these: who rounds up expects a rest."""
    for e in dict.fromkeys(e for number in numbers for e in parts(number)):
        if not isinstance(e, FloorDiv) or () in polynomial(e.numerator):
            continue
        if adds_up_sizes(e.numerator) and adds_up_sizes(e.divisor):
            yield e.numerator, e.divisor


def parts(e: Expr) -> Iterator[Expr]:
    """An expression and its parts, without how far its indices go."""
    yield e
    for part in () if isinstance(e, Index) else e.children:
        yield from parts(part)


def adds_up_sizes(e: Expr) -> bool:
    """Whether it is a polynomial in sizes, none of them subtracted."""
    return all(c > 0 and all(isinstance(atom, Size) for atom in m) for m, c in polynomial(e).items())


def leaves_no_rest(a: Expr, c: Expr, example: Mapping[str, int]) -> bool:
    if not {s.name for e in (a, c) for s in walk(e) if isinstance(s, Size)} <= set(example):
        return False
    whole, part = value_at(a, example), value_at(c, example)
    return part > 1 and whole % part == 0


def is_known(a: Expr, c: Expr, machine: Machine) -> bool:
    return machine.prover.proves((), integers.equal(integers.remainder(a, c), 0))


def divides(c: Expr, d: Expr) -> bool:
    """Whether one number divides another one."""
    (p, q) = (polynomial(e) for e in (c, d))
    return all(set(n) == {()} for n in (p, q)) and q[()] % p[()] == 0


def text(e: Expr) -> str:
    """A polynomial in sizes as Python writes it."""
    terms = ([str(c)] * (c != 1 or not m) + [cast(Size, s).name for s in m] for m, c in polynomial(e).items())
    return " + ".join(map("*".join, terms))
