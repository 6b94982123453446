"""From offsets back to elements: which index of a tensor lies so far behind its pointer.

An offset is Σ stride·index. Each stride takes the terms it divides, larger strides first; a contiguous tensor can also
be read as one line and divided. Whichever it is, the indices must be shown to lie in the tensor's shape: only then is
the offset that element, and only then does the tensor's shape say that the access is in bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from samesame.formula import polynomials
from samesame.formula.binders import rebuilt
from samesame.formula.expr import (
    ZERO,
    And,
    Expr,
    FloorDiv,
    Fold,
    Lambda,
    Leaf,
    Load,
    Mod,
    Num,
    Where,
    and_,
    const,
    not_,
    walk,
)
from samesame.formula.polynomials import Polynomial, by_sum, by_term, polynomial, written
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, outside, with_fact
from samesame.kernels.launch import Memory

Indices = tuple[Expr, ...]


def leaf_of(memory: Memory) -> Leaf:
    """The tensor with its own shape."""
    return memory.leaf(memory.name, memory.shape)


def flat_range(memory: Memory) -> tuple[Expr, Expr]:
    """The least offset of an element, below 0 where a dimension runs backwards, and one more than the greatest."""
    first: Expr = ZERO
    last: Expr = ZERO
    for n, stride in zip(memory.shape, memory.strides, strict=True):
        step = integers.times_(integers.minus(n, 1), integers.tidied(const(stride)))
        if isinstance(stride, int) and stride < 0:
            first = integers.plus_(first, step)
        else:
            last = integers.plus_(last, step)
    return first, integers.plus_(last, 1)


def offset_of(memory: Memory, indices: Indices) -> Expr:
    """How far behind the pointer an element lies."""
    total: Expr = ZERO
    for i, stride in zip(indices, memory.strides, strict=True):
        total = integers.plus_(total, integers.times_(i, integers.tidied(const(stride))))
    return total


def is_contiguous(memory: Memory) -> bool:
    """Whether the elements lie in order without gaps."""
    expected: Expr = const(1)
    for n, stride in reversed(list(zip(memory.shape, memory.strides, strict=True))):
        if integers.tidied(const(stride)) is not expected and const(n) is not const(1):
            return False
        expected = integers.times_(expected, integers.tidied(const(n)))
    return True


def tells_elements(memory: Memory, simplify: Simplifier) -> bool:
    """Whether no two elements lie at one offset: each stride is longer than all that lies along the shorter ones."""
    sizes, strides = ([integers.tidied(const(n)) for n in dims] for dims in (memory.shape, memory.strides))
    reach: Expr = ZERO
    for stride, n in sorted(zip(strides, sizes, strict=True), key=lambda pair: magnitude(pair[0])):
        if n is const(1):
            continue
        step = const(abs(stride.value)) if isinstance(stride, Num) else stride
        if not simplify.prover.proves((), integers.less(reach, step)):
            return False
        reach = integers.plus_(reach, integers.times_(step, integers.minus(n, 1)))
    return True


def in_shape(memory: Memory, indices: Indices) -> Expr:
    """The condition that the indices are those of an element."""
    parts: list[Expr] = []
    for i, n in zip(indices, memory.shape, strict=True):
        parts += [integers.at_least_zero(i), integers.less(i, integers.tidied(const(n)))]
    return and_(*parts)


def readings(memory: Memory, offset: Expr) -> Iterator[Indices]:
    """Indices whose offset this is, in the order in which they are to be tried."""
    by_strides = along_strides(memory, polynomial(offset))
    if by_strides is not None:
        yield by_strides
        yield from shifted(memory, by_strides)
    terms = with_remainders(polynomial(offset))
    by_digits = along_strides(memory, terms) if terms is not polynomial(offset) else None
    if by_digits is not None:
        yield tuple(map(integers.tidied, by_digits))
    whole_rows = along_strides(memory, polynomial(offset), eager=True)
    if whole_rows is not None and whole_rows != by_strides:
        yield whole_rows
        yield from shifted(memory, whole_rows)
    if is_contiguous(memory):
        yield from along_rows(memory, offset)
        yield along_line(memory, offset)


def with_remainders(terms: Polynomial) -> Polynomial:
    """The polynomial with each a − b·⌊a/b⌋ in it, times some c, as c·(a mod b): a stride that divides b then does not
    take its share of the quotient."""
    for monomial, c in sorted(terms.items(), key=lambda term: -len(term[0])):
        for atom in monomial:
            if not isinstance(atom, FloorDiv):
                continue
            others = list(monomial)
            others.remove(atom)
            times = common_factor({tuple(others): -c}, polynomial(atom.divisor))
            if times is None:
                continue
            whole = polynomials.times(times, polynomial(atom.numerator))
            rest = polynomials.plus(polynomials.plus(terms, {monomial: c}, -1), whole, -1)
            if len(rest) < len(terms):
                remainder = polynomials.times(times, {(Mod(atom.numerator, atom.divisor),): 1})
                return with_remainders(polynomials.plus(rest, remainder))
    return terms


def common_factor(product: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """product / divisor where both have one term and this is one, else None."""
    if len(divisor) != 1:
        return None
    quotient, rest = by_term(product, divisor)
    return None if rest else quotient


def shifted(memory: Memory, indices: Indices) -> Iterator[Indices]:
    """The same offset with one row more or less: `i·n + (j − n)` is row i − 1 or column j − n."""
    for d in range(len(indices) - 1):
        ratio = integers.quotient(
            integers.tidied(const(memory.strides[d])), integers.tidied(const(memory.strides[d + 1]))
        )
        for step in (1, -1):
            moved = list(indices)
            moved[d] = integers.plus_(indices[d], step)
            moved[d + 1] = integers.minus(indices[d + 1], integers.times_(ratio, step))
            if offset_of(memory, tuple(moved)) is offset_of(memory, indices):
                yield tuple(moved)


def along_strides(memory: Memory, offset: Polynomial, eager: bool = False) -> Indices | None:
    """Each stride takes the terms that it divides; None where something is left over. `eager`: a stride that is a sum
    takes its part of a term also where the others of its terms are not there."""
    strides = [integers.tidied(const(stride)) for stride in memory.strides]
    order = sorted(range(len(strides)), key=lambda d: magnitude(strides[d]), reverse=True)
    found: dict[int, Expr] = {}
    rest = dict(offset)
    for d in order:
        if const(memory.shape[d]) is const(1) or strides[d] is ZERO:  # all of a dimension of stride 0 is one element
            found[d] = ZERO
            continue
        divisor = polynomial(strides[d])
        quotient, rest = by_term(rest, divisor) if len(divisor) == 1 else by_sum(rest, divisor, eager)
        found[d] = written(quotient)
    return None if rest else tuple(found[d] for d in range(len(strides)))


def magnitude(stride: Expr) -> tuple[int, int]:
    """Strides with more symbols are taken to be larger."""
    terms = polynomial(stride)
    degree = max((len(m) for m in terms), default=0)
    return degree, max((abs(c) for m, c in terms.items() if len(m) == degree), default=0)


def along_line(memory: Memory, offset: Expr) -> Indices:
    """The indices of an element of a contiguous tensor, by division."""
    found: list[Expr] = []
    rest = offset
    for k, n in enumerate(reversed(memory.shape)):
        extent = integers.tidied(const(n))
        last = k == len(memory.shape) - 1
        found.append(rest if last else integers.remainder(rest, extent))
        rest = integers.quotient(rest, extent)
    return tuple(reversed(found))


def along_rows(memory: Memory, offset: Expr) -> Iterator[Indices]:
    """The indices of an element of a contiguous tensor, where the offset is so many rows, each as long as some of the
    last dimensions together, and a place in one: a slot of a cache in blocks. Both are divided."""
    rank = len(memory.shape)
    for d in range(1, rank - 1):
        rows, rest = by_step(polynomial(offset), polynomial(integers.tidied(const(memory.strides[d]))))
        if rows and rest:
            parts = (replace(memory, shape=memory.shape[: d + 1]), replace(memory, shape=memory.shape[d + 1 :]))
            pairs = zip(parts, (rows, rest), strict=True)
            yield tuple(i for part, number in pairs for i in along_line(part, written(number)))


def by_step(offset: Polynomial, step: Polynomial) -> tuple[Polynomial, Polynomial]:
    return by_term(offset, step) if len(step) == 1 else by_sum(offset, step)


def element(memory: Memory, offset: Expr, facts: Facts, simplify: Simplifier) -> Indices | None:
    """The indices of the element at an offset, shown to be in the shape under the facts; None where that fails."""
    offset = simplify(offset, facts)
    strides = tuple(simplify(integers.tidied(const(stride)), facts) for stride in memory.strides)
    for indices in readings(replace(memory, strides=strides), offset):
        simpler = tuple(simplify(i, facts) for i in indices)
        if simplify.prover.proves(facts, in_shape(memory, simpler)):
            return simpler
    return None


def with_elements(expr: Expr, memories: dict[str, Memory], facts: Facts, simplify: Simplifier) -> Expr:
    """The formula with tensors' own indices in place of offsets, wherever these are shown to be in the shape; also
    where they say how far a fold goes."""
    memo: dict[tuple[Expr, Facts], Expr] = {}

    def go(e: Expr, known: Facts) -> Expr:
        key = e, known
        if key not in memo:
            memo[key] = visit(e, known)
        return memo[key]

    def one_after_another(e: And, known: Facts) -> Expr:
        """Each part under those before it, which are none of data: where one of these is false, so is the whole."""
        parts = sorted(e.arguments, key=lambda part: any(isinstance(x, Load) for x in walk(part)))
        told: list[Expr] = []
        for part in parts:
            told.append(go(part, known))
            known = with_fact(known, part)
        return and_(*told)

    def visit(e: Expr, known: Facts) -> Expr:
        if isinstance(e, Where):
            c = go(e.condition, known)
            return Where(
                c, go(e.then, with_fact(known, e.condition)), go(e.otherwise, with_fact(known, not_(e.condition)))
            )
        if isinstance(e, And):
            return one_after_another(e, known)
        if isinstance(e, Load) and e.leaf.name in memories and len(e.indices) == 1:
            memory = memories[e.leaf.name]
            offset = e.indices[0]
            indices = element(memory, offset, known, simplify)
            if indices is not None:
                return Load(leaf_of(memory), tuple(go(i, known) for i in indices))
            return Load(e.leaf, (go(offset, known),))
        inside = outside(known, e.bound) if isinstance(e, Fold | Lambda) else known
        return rebuilt(e, lambda part: go(part, inside))

    return go(expr, facts)
