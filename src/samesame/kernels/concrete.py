"""A kernel at given sizes: every program and lane written out, to find a case where an obligation fails.

Z3 proves what holds for all sizes; where it cannot, the reason is often that it does not hold. So the offsets and
masks of every access are worked out in numbers, for the example's sizes and for small ones, and looked at: an element
nobody writes, one that two programs write, a pointer outside its tensor. What is found is a counterexample by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samesame.evidence import Refused
from samesame.formula.binders import replaced
from samesame.formula.definite import is_undefined
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import TRUE, ZERO, Expr, Index, Load, Size, Unsupported, and_, const, walk, where
from samesame.formula.order import order
from samesame.formula.sizes import value_at
from samesame.kernels import clock
from samesame.kernels.indices import integers
from samesame.kernels.launch import Memory
from samesame.kernels.obligations import FOLDS, Kernel
from samesame.kernels.tiles.detile import Write
from samesame.kernels.tiles.memory import flat_range

MOST_CELLS = 1 << 21  # program instances times lanes that are written out at once
SMALL = (1, 2, 3, 5, 8, 17, 33, 65, 129, 200)
CASES = 14
MOST_BLOCK = 1 << 13  # two blocks in a row are looked at if they are no longer than this
MOST_TRIED = 32
MOST_MEETINGS = 64  # of programs that write the same, until it is taken that all do


@dataclass(frozen=True)
class Case:
    """Sizes at which the kernel is written out."""

    sizes: Mapping[str, int]

    def number(self, size: Any) -> int:
        return value_at(size, self.sizes)


class Grid:
    """An expression over index variables, as `evaluate` takes a tensor."""

    def __init__(self, variables: Sequence[Index], expr: Expr) -> None:
        self.variables, self.expr, self.kind = tuple(variables), expr, expr.kind

    def element(self) -> tuple[tuple[Index, ...], Expr]:
        return self.variables, self.expr


def cases(kernel: Kernel) -> Iterator[Case]:
    """The example's sizes, and small ones, that the host code would launch like this; and each size as long as two
    blocks, the others being small."""
    symbols = sorted({s for e in expressions(kernel) for s in walk(e) if isinstance(s, Size)}, key=lambda s: s.name)
    example = kernel.machine.launch.example
    tried: list[dict[str, int]] = []
    if all(s.name in example for s in symbols):
        tried.append({s.name: example[s.name] for s in symbols})
    if kernel.machine.launch.trusted == "none":
        return
    for k in range(CASES if kernel.machine.launch.trusted == "sizes" else 0):
        tried.append(
            {s.name: max(s.minimum, SMALL[(k + 3 * n * (k // 3)) % len(SMALL)]) for n, s in enumerate(symbols)}
        )
    if kernel.machine.launch.trusted == "sizes":
        blocks = [2 * n for n in sorted(set(kernel.machine.launch.constants)) if 2 * n <= MOST_BLOCK]
        tried += [{s.name: n if s is long else s.minimum for s in symbols} for n in blocks for long in symbols]
    seen: list[dict[str, int]] = []
    for sizes in tried[:MOST_TRIED]:
        if not clock.left():
            return
        if sizes not in seen and holds(kernel.machine.prover.assumed, sizes):
            seen.append(sizes)
            yield Case(sizes)


def expressions(kernel: Kernel) -> Iterator[Expr]:
    for v in kernel.machine.programs:
        yield v.extent
    for access in (*kernel.reads, *kernel.writes):
        yield access.offset
        yield access.condition
        yield from flat_range(access.memory)
        for v in access.variables:
            yield v.extent


def holds(conditions: Sequence[Expr], sizes: Mapping[str, int]) -> bool:
    """Whether conditions on sizes hold at these; False for what cannot be told."""
    try:
        return all(bool(evaluate(Grid((), c), {}, sizes)) for c in conditions)  # type: ignore[arg-type]
    except Unsupported:
        return False


def worked_out(kernel: Kernel, case: Case, variables: Sequence[Index], *exprs: Expr) -> list[np.ndarray] | None:
    """The expressions for all values of the variables; None where that is too much or not known."""
    leaves: dict[str, np.ndarray] = {}
    written = {f"{write.memory.name}*" for write in kernel.writes}
    for e in exprs:
        for load in walk(e):
            if isinstance(load, Load):
                if is_undefined(load) or load.leaf.name in written or is_told_of(load, kernel):
                    return None  # nobody knows what is read there
                leaves[load.leaf.name] = contents(load, kernel, case)
    try:
        cells = math.prod(max(int(evaluate(Grid((), upper(v.extent)), {}, case.sizes)), 1) for v in variables)  # type: ignore[arg-type]
        if cells > MOST_CELLS:
            return None
        return [evaluate(Grid(variables, e), leaves, case.sizes) for e in exprs]  # type: ignore[arg-type]
    except Unsupported:
        return None


def is_told_of(load: Load, kernel: Kernel) -> bool:
    """Whether it is of a tensor that the launch does not pass, and by which it is told what another one holds."""
    told = (e for shown in kernel.machine.launch.told.values() for e in walk(shown))
    return any(isinstance(e, Load) and e.leaf.name == load.leaf.name for e in told)


def upper(extent: Expr) -> Expr:
    """A number that an extent never exceeds by much, for counting cells: its value for the first of everything."""
    from samesame.formula.expr import substitute

    return substitute(extent, {v: ZERO for v in extent.free})


def contents(load: Load, kernel: Kernel, case: Case) -> np.ndarray:
    """The example's own data at its sizes; else some: 0 where an integer is wanted, as a tensor has an element 0
    wherever it has one, and distinct reals."""
    own = own_contents(load, kernel, case)
    if own is not None:
        return own
    memory = next((a.memory for a in kernel.reads if load.leaf.name == f"{a.memory.name}*"), None)
    length = case.number(flat_range(memory)[1]) if memory is not None else 1
    if load.leaf.kind == "real":
        return np.linspace(-1.0, 1.0, max(length, 1))
    return np.zeros(max(length, 1), bool if load.leaf.kind == "bool" else np.int64).reshape(
        () if not load.indices else (-1,)
    )


def own_contents(load: Load, kernel: Kernel, case: Case) -> np.ndarray | None:
    """The elements of a tensor as the recorded launch finds them, in one row; None at other sizes, and where nobody
    knows them."""
    launch = kernel.machine.launch
    name = load.leaf.name.removesuffix("*")
    told = launch.values is not None and name != load.leaf.name
    if not told or any(launch.example.get(size) != n for size, n in case.sizes.items()):
        return None
    try:
        return np.asarray(launch.values(name))  # type: ignore[misc]
    except (Refused, KeyError):
        return None


def table(kernel: Kernel, case: Case, access: Write) -> tuple[np.ndarray, np.ndarray] | None:
    """Of one access: its offsets where it is not masked out, and there the values of its variables, a row each."""
    condition = and_(access.condition, *access.in_range)
    found = worked_out(kernel, case, access.variables, where(condition, access.offset, ZERO), condition)
    if found is None:
        return None
    offsets, mask = found
    places = np.argwhere(np.broadcast_to(mask, offsets.shape))
    return offsets[tuple(places.T)] if places.size or offsets.ndim == 0 else np.zeros(0, np.int64), places


def described(kernel: Kernel, access: Write, place: Sequence[int]) -> dict[str, Any]:
    """A program, iteration and lane in words."""
    values = dict(access.fixed) | dict(zip(access.variables, map(int, place), strict=True))
    programs = [values.get(v, 0) for v in kernel.machine.programs]
    while len(programs) > 1 and programs[-1] == 0 and kernel.machine.programs[len(programs) - 1] not in values:
        programs.pop()
    lanes = [n for v, n in values.items() if v not in kernel.machine.programs and v not in access.access.loops]
    iterations = [values[t] for t in access.access.loops if t in values]
    found: dict[str, Any] = {"program": programs, "lane": lanes}
    return found | ({"iteration": iterations} if iterations else {})


def elements(memory: Memory, case: Case) -> np.ndarray:
    """The offsets of all elements, in the tensor's shape."""
    total = np.zeros((), np.int64)
    for n, stride in zip(memory.shape, memory.strides, strict=True):
        total = total[..., None] + np.arange(case.number(n)) * case.number(stride)
    return total


# ------------------------------------------------------------------------------------------------------------- search


def uncovered(kernel: Kernel, writes: Sequence[Write]) -> dict[str, Any] | None:
    """An element that nobody writes, of a tensor of which not every element held something before."""
    if any(w.memory.contents not in (None, "parts") for w in writes):
        return None
    for case in cases(kernel):
        tables = [table(kernel, case, w) for w in writes]
        if any(t is None for t in tables):
            continue
        memory = writes[0].memory
        offsets = elements(memory, case)
        written = np.isin(offsets, np.concatenate([t[0].ravel() for t in tables if t is not None]))
        if not written.all():
            first = tuple(map(int, np.argwhere(~written)[0]))
            return {
                "sizes": dict(case.sizes),
                "element": f"{memory.name}{list(first)}",
                "offset": int(offsets[first]),
                "line": str(writes[0].access.place),
            }
    return None


def written_twice(kernel: Kernel, writes: Sequence[Write]) -> dict[str, Any] | None:
    """An element that two programs write, where it is not plain that both write the same."""
    harmless = 0
    for case in cases(kernel):
        found: dict[int, tuple[Write, tuple[int, ...], list[int]]] = {}
        for w in writes:
            rows = table(kernel, case, w)
            if rows is None:
                continue
            for offset, place in zip(rows[0].ravel().tolist(), rows[1].tolist(), strict=True):
                values = dict(w.fixed) | dict(zip(w.variables, place, strict=True))
                program = tuple(values.get(v, 0) for v in kernel.machine.programs)
                before = found.setdefault(offset, (w, program, place))
                if before[1] != program and not in_any_order(before[0], w):
                    if same_value(kernel, case, (before[0], before[2]), (w, place)):
                        harmless += 1
                        if harmless == MOST_MEETINGS:
                            return None
                        continue
                    return {
                        "sizes": dict(case.sizes),
                        "offset": offset,
                        "line": str(w.access.place),
                        "first": described(kernel, before[0], before[2]),
                        "second": described(kernel, w, place),
                    }
    return None


Writer = tuple[Write, list[int]]  # a store, and the numbers that its variables are


def same_value(kernel: Kernel, case: Case, a: Writer, b: Writer) -> bool:
    """Whether two programs write the same, as their values are one expression over what the kernel leaves as it is."""
    written = {w.memory.storage or w.memory.name for w in kernel.writes}
    if any((read.memory.storage or read.memory.name) in written for read in kernel.reads):
        return False
    values: list[Expr] = []
    for write, place in (a, b):
        known: dict[Expr, Expr] = dict(zip(write.variables, map(const, place), strict=True))
        known |= {e: const(case.sizes[e.name]) for e in walk(write.value) if isinstance(e, Size)}
        values.append(integers.tidied(replaced(write.value, known)))
    first, second = values
    return first is second


def in_any_order(a: Write, b: Write) -> bool:
    """Whether two writes of one element may come in either order: both update it atomically, in the same way."""
    return a.access.kind == b.access.kind and a.access.kind in FOLDS


def outside(kernel: Kernel) -> dict[str, Any] | None:
    """A load or store outside its tensor."""
    for case in cases(kernel):
        for access in (*kernel.reads, *kernel.writes):
            rows = table(kernel, case, access)
            if rows is None:
                continue
            first, end = map(case.number, flat_range(access.memory))
            bad = np.argwhere((rows[0].ravel() < first) | (rows[0].ravel() >= end)).ravel()
            if bad.size:
                k = int(bad[0])
                return {
                    "sizes": dict(case.sizes),
                    "tensor": access.memory.name,
                    "elements": end - first,
                    "offset": int(rows[0].ravel()[k]),
                    "access": access.access.kind,
                    **described(kernel, access, rows[1][k]),
                    "line": str(access.access.place),
                }
    return None


def anywhere(kernel: Kernel, path: Expr, claim: Expr) -> tuple[bool, dict[str, Any] | None]:
    """Whether a claim is so in every program, iteration and lane of the example that gets there; a case if not."""
    launch = kernel.machine.launch
    if not launch.example and any(isinstance(e, Size) for e in walk(and_(path, claim))):
        return False, None
    case = Case(launch.example)
    if any(own_contents(e, kernel, case) is None for e in walk(and_(path, claim)) if isinstance(e, Load)):
        return False, None
    variables = ordered(path, claim)
    inside = [integers.less(v, v.extent) for v in variables if v.extent.free]
    found = worked_out(kernel, case, variables, where(and_(path, *inside), claim, TRUE))
    if found is None:
        return False, None
    if found[0].all():
        return True, None
    bad = np.argwhere(~found[0])
    values = dict(zip(variables, map(int, bad[0]), strict=True))
    programs = [values.get(v, 0) for v in kernel.machine.programs]
    others = [n for v, n in values.items() if v not in kernel.machine.programs]
    return False, {"sizes": dict(case.sizes), "program": programs, "lane": others}


def ordered(*exprs: Expr) -> tuple[Index, ...]:
    """The free indices, each behind those that its range depends on."""
    found: dict[Index, None] = {}

    def add(v: Index) -> None:
        for w in sorted(v.extent.free, key=order):
            add(w)
        found[v] = None

    for v in sorted(frozenset[Index]().union(*(e.free for e in exprs)), key=order):
        add(v)
    return tuple(found)


def misused(kernel: Kernel, access: Write, element: Load, below: int) -> dict[str, Any] | None:
    """A lane of the example in which an element of its data serves as an index and lies outside 0 … below − 1: the
    element's offset, and what it is."""
    case = Case(kernel.machine.launch.example)
    condition = and_(access.condition, *access.in_range)
    used = (where(condition, e, ZERO) for e in (element, element.indices[0]))
    found = worked_out(kernel, case, access.variables, *used, condition)
    if found is None or own_contents(element, kernel, case) is None:
        return None
    index, offset, mask = found
    wrong = mask & ((index < 0) | (index >= below))
    if not wrong.any():
        return None
    bad = np.argwhere(wrong)
    at = tuple(bad[0])
    told = {"sizes": dict(case.sizes), "offset": int(offset[at]), "index": int(index[at])}
    return told | described(kernel, access, bad[0].tolist()) | {"line": str(access.access.place)}


def reaches_undefined(kernel: Kernel, write: Write) -> dict[str, Any] | None:
    """An element whose value changes with a value that nobody knows."""
    parts = [e for whole in (write.value, write.condition) for e in walk(whole) if isinstance(e, Load)]
    if any(is_told_of(e, kernel) for e in parts):
        return None
    unknown = [e for e in walk(write.value) if is_undefined(e)]
    clean = replaced(write.value, {e: const(0) if e.kind != "bool" else const(False) for e in unknown})
    for case in cases(kernel):
        leaves = {
            load.leaf.name: np.zeros((0,) * len(load.indices)) if is_undefined(load) else contents(load, kernel, case)
            for load in walk(write.value)
            if isinstance(load, Load)
        }
        leaves |= {
            load.leaf.name: contents(load, kernel, case) for load in walk(write.condition) if isinstance(load, Load)
        }
        try:
            if math.prod(case.number(upper(v.extent)) for v in write.variables) > MOST_CELLS // 32:
                continue
            reached = and_(write.condition, *write.in_range)
            condition = evaluate(Grid(write.variables, reached), leaves, case.sizes)  # type: ignore[arg-type]
            found = evaluate(Grid(write.variables, as_real(write.value)), leaves, case.sizes)  # type: ignore[arg-type]
            plain = evaluate(Grid(write.variables, as_real(clean)), leaves, case.sizes)  # type: ignore[arg-type]
        except (Unsupported, KeyError):
            continue
        bad = np.argwhere(condition & np.isnan(found) & ~np.isnan(plain))
        if bad.size:
            return {"sizes": dict(case.sizes), **described(kernel, write, bad[0]), "line": str(write.access.place)}
    return None


def as_real(expr: Expr) -> Expr:
    from samesame.formula.expr import PI, numeric

    return numeric(expr) * PI / PI if expr.kind != "real" else expr


Search = Callable[[Kernel], "dict[str, Any] | None"]
