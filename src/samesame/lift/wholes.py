"""Memory that is made empty has values where somebody has written, and nowhere else.

A launch is asked whether it writes the view that it gets. Where this is a slice of a tensor that `torch.empty` made,
the rest may be nobody's: it must not be returned, nor read by the host or another launch. So the steps are followed in
order with the parts of each such memory that are written whole, as arithmetic progressions of bytes. Two parts are one
where the second one goes on where the first one ends; what is read has to be one of them, or the memory has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.formula.expr import Expr, const
from samesame.kernels.front import PARTS, passed_of
from samesame.kernels.indices import integers
from samesame.kernels.verdict import KernelVerdict
from samesame.operators.execute import OVERWRITES

Dims = tuple[tuple[Expr, Expr], ...]  # (how many, how far apart), in bytes
REST = "and that the others write the rest is not shown"
UNSHOWN = "was made empty: that all of it is written is not shown"


@dataclass(frozen=True)
class Part:
    """The bytes first + Σ i·s with 0 ≤ i < n, for each (n, s) of `dims`."""

    first: Expr
    dims: Dims

    def split(self, stride: Expr) -> Iterator[tuple[Expr, Dims]]:
        """How many there are along a stride, and the other dimensions: one, where none has that stride."""
        for k, (n, s) in enumerate(self.dims):
            if s is stride:
                yield n, (*self.dims[:k], *self.dims[k + 1 :])
        yield const(1), self.dims

    def followed_by(self, other: Part, strides: Sequence[Expr]) -> Part | None:
        """Both as one, where the other one goes on along a stride where this one ends."""
        for stride in strides:
            for n, rest in self.split(stride):
                end = integers.plus_(self.first, integers.times_(n, stride))
                if other.first is not end:
                    continue
                for m, others in other.split(stride):
                    if is_same(rest, others):
                        return Part(self.first, joined((*rest, (integers.plus_(n, m), stride))))
        return None


def is_same(some: Dims, others: Dims) -> bool:
    """Whether these are the same dimensions, in whichever order."""
    left = list(others)
    for one in some:
        if one not in left:
            return False
        left.remove(one)
    return not left


def joined(dims: Dims) -> Dims:
    """The dimensions without those of one element, and two as one where the outer one steps over the inner one."""
    left = [(n, s) for n, s in dims if n is not const(1)]
    for inner in left:
        n, s = inner
        outer = next((o for o in left if o is not inner and o[1] is integers.times_(n, s)), None)
        if outer is not None:
            rest = (o for o in left if o is not inner and o is not outer)
            return joined((*rest, (integers.times_(outer[0], n), s)))
    return tuple(left)


def part_of(view: Any) -> Part:
    size = getattr(torch, view.dtype).itemsize
    first, *strides = (integers.times_(integers.tidied(const(n)), size) for n in (view.offset, *view.strides))
    shape = (integers.tidied(const(n)) for n in view.shape)
    return Part(first, joined((*zip(shape, strides, strict=True), (integers.tidied(const(size)), const(1)))))


@dataclass
class Written:
    """The parts of a memory that are written, of one that was made empty."""

    whole: Part
    parts: list[Part] = field(default_factory=list)

    def add(self, view: Any) -> None:
        one = part_of(view)
        if one not in self.parts:
            self.parts.append(one)

    def has(self, view: Any) -> bool:
        """Whether all of a view is written, as far as parts that join are one."""
        wanted, size = part_of(view), getattr(torch, view.dtype).itemsize
        if any(integers.tidied(const(n)) is const(0) for n in view.shape):
            return True
        strides = {integers.times_(integers.tidied(const(s)), size) for s in view.strides}
        return any(one.first is goal.first and is_same(one.dims, goal.dims)
                   for one in together(self.parts, strides) for goal in (wanted, self.whole))


def together(parts: Sequence[Part], strides: set[Expr]) -> list[Part]:
    """The parts, and what they are where one goes on where another one ends."""
    found = list(parts)
    left: list[Part] = []
    for new in parts:
        while True:
            ways = [*strides, *(s for one in (new, *left) for _, s in one.dims)]
            pairs = ((old, new.followed_by(old, ways) or old.followed_by(new, ways)) for old in left)
            old, both = next(((old, both) for old, both in pairs if both is not None), (None, None))
            if old is None or both is None:
                break
            left.remove(old)
            new = both
        left.append(new)
        found.append(new)
    return [*found, *left]


def hold_rests(captured: Any, lifted: Mapping[int, Sequence[KernelVerdict]]) -> list[str]:
    """Take back what is proved of launches that read memory of which a part may be nobody's, or that write a part of
    such memory where the rest is returned or read by the host. The sentences are of what no launch writes to."""
    empty = {m.number: Written(whole_of(m)) for m in captured.memories if m.contents in (None, PARTS)}
    writers: dict[int, list[tuple[str, KernelVerdict]]] = {number: [] for number in empty}
    told: dict[str, None] = {}

    def read_by_host(view: Any) -> None:
        if view.memory not in empty or empty[view.memory].has(view):
            return
        for name, verdict in writers[view.memory]:
            doubt(verdict, "coverage", f"{name} is a part of a tensor made empty, {REST}", name)
        if not writers[view.memory]:
            told[f"the host code reads or returns {captured.memories[view.memory].name}, which {UNSHOWN}"] = None

    for step in (*captured.prepared, *captured.steps):
        variants = getattr(step, "variants", ())
        if not variants:
            host_step(step, empty, read_by_host)
            continue
        for before in (one for one in variants[0].before if all(one in other.before for other in variants)):
            host_step(before, empty, read_by_host)
        for name, view, verdicts in passed_to(variants[0], captured, lifted):
            if view.memory in empty:
                loading = [verdict for verdict in verdicts if name in verdict.loads]
                for verdict in loading if not empty[view.memory].has(view) else ():
                    doubt(verdict, "undefined", f"{name} is read, and {UNSHOWN}")
        for name, view, verdicts in passed_to(variants[0], captured, lifted):
            if view.memory in empty:
                states = [coverage_of(verdict, name) for verdict in verdicts]
                writers[view.memory] += [(name, one) for one, s in zip(verdicts, states, strict=True) if s != "none"]
                if states and all(state == "proved" for state in states):
                    empty[view.memory].add(view)
    for _, view in captured.outputs:
        read_by_host(view)
    return list(told)


def passed_to(
    launch: Any, captured: Any, lifted: Mapping[int, Sequence[KernelVerdict]]
) -> list[tuple[str, Any, Sequence[KernelVerdict]]]:
    """The tensors of a launch by name, with its verdicts; none where it is not lifted, and so not verified."""
    try:
        passed = passed_of(launch, captured).values()
    except Refused:
        return []
    return [(name, view, lifted.get(launch.call, ())) for name, view in {one.name: one.view for one in passed}.items()]


def host_step(step: Any, empty: Mapping[int, Written], read: Callable[[Any], None]) -> None:
    """What an operator of the host reads, and which parts it writes."""
    fills = step.operator.split(".")[1] in OVERWRITES
    given = replace(step, kwargs={name: value for name, value in step.kwargs.items() if name != "out"}).tensors
    for view in given[fills:]:
        read(view)
    for view in step.results if fills or "out" in step.kwargs else ():
        if view.memory in empty:
            empty[view.memory].add(view)


def coverage_of(verdict: KernelVerdict, name: str) -> str:
    """The state of what says that a launch writes all of a tensor; "none" where it does not write to it."""
    if verdict.unsupported:
        return "undecided"
    states = [o.state for o in verdict.obligations if o.name == "coverage" and o.tensor == name]
    return next((state for state in states if state != "proved"), states[0] if states else "none")


def doubt(verdict: KernelVerdict, name: str, detail: str, tensor: str = "") -> None:
    for obligation in verdict.obligations:
        if obligation.name == name and obligation.tensor == tensor and obligation.state == "proved":
            obligation.state, obligation.detail = "undecided", detail


def whole_of(memory: Any) -> Part:
    size = getattr(torch, memory.dtype).itemsize
    count = integers.times_(integers.tidied(const(memory.elements)), size)
    return Part(const(0), joined(((count, const(1)),)))
