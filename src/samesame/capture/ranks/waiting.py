"""Waiting: memory that a collective may still read or write, and who touches it too early.

A collective that was only begun (`async_op=True`, `isend`, `irecv`, a functional one) works on while the program goes
on. Until it is waited for, what it writes holds nobody knows what, and what it reads must stay as it is. A program that
does not keep to that computes something else on every run, although one process that plays all ranks in turn would
never see it. `UnderWay` follows which memory is under way on a rank, and remembers the first touch that comes too
early: such a rank's program is wrong whatever the others do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._ops import OpOverload

from samesame.capture.memory import address, extent, has_memory, overlap
from samesame.evidence import Refused
from samesame.graph import Node, Origin
from samesame.operators.execute import tensors_in, written


class Unawaited(Refused):
    """A rank that touches memory which a collective still works on: a finding about the program, at `origin`."""

    def __init__(self, message: str, origin: Origin) -> None:
        super().__init__(message)
        self.origin = origin


@dataclass(eq=False, slots=True)
class Begun:
    """Collectives that one call has begun: their nodes, the tensors that they read and those that they write, and how
    many nodes the rank had then."""

    nodes: tuple[Node, ...]
    reads: tuple[torch.Tensor, ...]
    writes: tuple[torch.Tensor, ...]
    before: int

    def __str__(self) -> str:
        return self.nodes[0].operator.removeprefix("collective.")

    @property
    def origin(self) -> Origin:
        return self.nodes[0].origin


@dataclass(slots=True)
class UnderWay:
    """The collectives that a rank has begun and not waited for. `here()` is where the program is, `named(tensor)` what
    the program calls a tensor there, if it does."""

    rank: int
    here: Callable[[], Origin]
    named: Callable[[torch.Tensor], str]
    begun: list[Begun] = field(default_factory=list)
    unsettled: list[tuple[torch.Tensor, Unawaited]] = field(default_factory=list)
    found: Unawaited | None = None
    afterward: tuple[list[torch.Tensor], list[torch.Tensor]] | None = None  # what a callback reads, and what it writes

    def begin(self, one: Begun) -> None:
        self.begun.append(one)

    def holds(self, one: Begun) -> bool:
        return any(other is one for other in self.begun)

    @contextmanager
    def afterwards(self, one: Begun) -> Iterator[None]:
        """Inside runs what follows when this one has arrived, and what that touches is under way as long as this is."""
        others, before = self.begun, self.afterward
        reads, writes = self.afterward = [], []
        self.begun = [other for other in others if other is not one]
        try:
            yield
        finally:
            self.begun, self.afterward = others, before
            one.reads, one.writes = (*one.reads, *reads), (*one.writes, *writes)

    def end(self, one: Begun) -> bool:
        """Whether this one was under way until now."""
        there = one in self.begun
        self.begun = [other for other in self.begun if other is not one]
        return there

    def writing(self, tensor: torch.Tensor) -> Begun | None:
        """The collective that brings what this tensor is to hold, if it is under way."""
        return next((one for one in self.begun if any(address(tensor) == address(x) for x in one.writes)), None)

    def watch(self, operation: OpOverload, given: dict[str, Any]) -> None:
        """An operator is about to run. One that gives another view of the same memory reads nothing of it."""
        if not (self.begun or self.unsettled or self.afterward) or is_view(operation):
            return
        names = [operation._schema.arguments[position].name for position in written(operation)]
        self.touch(
            tensors_in([value for name, value in given.items() if name not in names]),
            tensors_in([given[name] for name in names if name in given]),
        )

    def touch(self, reads: Iterable[torch.Tensor], writes: Iterable[torch.Tensor]) -> None:
        """Note it if memory is read or written too early."""
        reads, writes = list(reads), list(writes)
        if self.afterward is not None:
            self.afterward[0].extend(reads)
            self.afterward[1].extend(writes)
        for tensor in reads:
            self.note("reads", tensor, [one for one in self.begun if touched(tensor, one.writes)])
            self.settle(tensor)
        for tensor in writes:
            both = [one for one in self.begun if touched(tensor, (*one.reads, *one.writes))]
            self.note("writes into", tensor, both)
            self.unsettled = [one for one in self.unsettled if not covers(tensor, one[0])]

    def bring(self, reads: Iterable[torch.Tensor], writes: Iterable[torch.Tensor]) -> None:
        """A collective is about to read and write. Where another one brings something to the same place, what is there
        in the end is not settled, which is a fault once somebody looks: torch warms pipelines up in that way."""
        self.touch(reads, ())
        for tensor in writes:
            self.note("writes into", tensor, [one for one in self.begun if touched(tensor, one.reads)])
            for one in self.begun:
                if touched(tensor, one.writes):
                    self.unsettled.append((tensor, self.too_early("writes into", tensor, one)))

    def returned(self, name: str, tensor: torch.Tensor) -> None:
        """Note it if an output of the program, or what it leaves in memory of others, is under way at the end."""
        self.note("ends with", tensor, [one for one in self.begun if touched(tensor, one.writes)], name)
        self.settle(tensor)

    def settle(self, tensor: torch.Tensor) -> None:
        """Somebody looks at what a tensor holds."""
        if self.found is None:
            self.found = next((fault for place, fault in self.unsettled if touches(tensor, place)), None)

    def note(self, word: str, tensor: torch.Tensor, under_way: Sequence[Begun], name: str = "") -> None:
        if self.found is None and under_way:
            self.found = self.too_early(word, tensor, under_way[0], name)

    def too_early(self, word: str, tensor: torch.Tensor, one: Begun, name: str = "") -> Unawaited:
        here = self.here() if not name else Origin()
        what = name or self.named(tensor) or f"a result of the {one}"
        near = one.origin.file and here.file in ("", one.origin.file)
        line = f"line {one.origin.line}" if near and here.file else one.origin.spoken
        at = f" at {here.spoken}" if here.file else ""
        sentence = f"rank {self.rank} {word} {what}{at} before the {one} of {line} is waited for"
        return Unawaited(sentence, here if here.file else one.origin)


@dataclass(slots=True)
class Waiting:
    """How a program waits for what it has begun: `end` is called when it does, `refusal` makes the error where what it
    asks has no answer before."""

    begun: Begun
    under_way: UnderWay
    end: Callable[[Begun], None]
    refusal: Callable[[str], Refused]

    def __call__(self) -> None:
        self.end(self.begun)


class Pending(dist.Work):
    """What a collective that was begun hands to the program."""

    def __init__(self, waiting: Waiting) -> None:
        super().__init__()
        self.waiting = waiting

    def wait(self, timeout: timedelta | None = None) -> bool:
        self.waiting()
        return True

    def synchronize(self) -> None:
        self.waiting()

    def block_current_stream(self) -> None:
        self.waiting()

    def is_completed(self) -> bool:
        raise self.waiting.refusal("asks whether a collective is done, so that time decides what it does; call .wait()")

    is_success = is_completed

    def get_future(self) -> Any:
        return Future(self.waiting, list(self.waiting.begun.writes))


class Future(torch.futures.Future[Any]):
    """The same as a future, of the tensors that take the result, or of what a callback made of them.

    A callback runs when the collective has arrived, which may be at once or as late as somebody waits. It is recorded
    where it is handed over, and all memory that it touches is under way from there until the program waits.
    """

    def __init__(self, waiting: Waiting, result: Any) -> None:
        super().__init__()
        self.waiting, self.result = waiting, result

    def wait(self) -> Any:
        self.waiting()
        return self.result

    def value(self) -> Any:
        if self.waiting.under_way.holds(self.waiting.begun):
            self._no_answer()
        return self.result

    def then(self, callback: Callable[[Any], Any]) -> Any:
        with self.waiting.under_way.afterwards(self.waiting.begun):
            return Future(self.waiting, callback(arrived(self.result)))

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.then(callback)

    def _no_answer(self, *_: Any) -> Any:
        raise self.waiting.refusal("asks for a collective's result before .wait(), and when that is there nobody knows")

    done = _no_answer


def arrived(result: Any) -> Any:
    """A future that has its result."""
    done: Any = torch.futures.Future()
    done.set_result(result)
    return done


def is_view(operation: OpOverload) -> bool:
    """Whether an operator's results are other views of its arguments, by its schema."""
    returns = operation._schema.returns
    return bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)


def touched(tensor: torch.Tensor, others: Iterable[torch.Tensor]) -> bool:
    """Whether a tensor shares an element with one of the others."""
    return has_memory(tensor) and any(has_memory(other) and touches(tensor, other) for other in others)


def touches(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors share an element."""
    if address(a) != address(b) or not overlap(a, b):
        return False
    return (a.is_contiguous() and b.is_contiguous()) or bool(_places(a) & _places(b))


def covers(tensor: torch.Tensor, place: torch.Tensor) -> bool:
    """Whether a tensor has all the memory that another one has."""
    (start, stop), (first, last) = extent(tensor), extent(place)
    return address(tensor) == address(place) and tensor.is_contiguous() and start <= first and last <= stop


def _places(tensor: torch.Tensor) -> set[int]:
    """Where each element starts, in bytes."""
    start, stop = extent(tensor)
    numbers = torch.arange(start, stop, tensor.element_size())
    return set(numbers.as_strided(tuple(tensor.shape), tensor.stride(), 0).flatten().tolist())
