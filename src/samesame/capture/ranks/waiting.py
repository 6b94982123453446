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
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import getattr_static
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch._ops import OpOverload

from samesame.capture.memory import address, extent, has_memory, overlap
from samesame.evidence import Refused
from samesame.graph import Node, Origin
from samesame.operators.execute import OVERWRITES, tensors_in, written

IN_HOOK: ContextVar[bool] = ContextVar("a communication hook runs", default=False)
SHAPES_ONLY = frozenset((                                  # what they read of a tensor is its shape
    "empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like",
    "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros",
))
SEVERAL = frozenset(("_foreach_copy_", "_foreach_zero_"))  # in place, whatever was there
BY_INDEX = ("index", "_index", "scatter", "masked", "put")  # in place, where data say


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
    callbacks: list[Future] = field(default_factory=list)

    def __str__(self) -> str:
        return self.nodes[0].operator.removeprefix("collective.")

    @property
    def origin(self) -> Origin:
        return self.nodes[0].origin


@dataclass(eq=False, slots=True)
class Unsettled:
    """Where nobody knows what is there, as two collectives brought something at once, or one a sum for another rank (of
    a `reduce` gloo leaves a part, NCCL nothing): the elements that nobody has written since, by where they start, and
    the fault that it is to look at them."""

    place: torch.Tensor
    starts: set[int]
    fault: Unawaited

    def seen_in(self, tensor: torch.Tensor) -> bool:
        if not has_memory(tensor) or address(tensor) != address(self.place) or not overlap(tensor, self.place):
            return False
        return tensor.element_size() != self.place.element_size() or bool(_places(tensor) & self.starts)

    def without(self, tensor: torch.Tensor) -> Unsettled | None:
        """What is left of it once a tensor has been written, all of it."""
        alike = has_memory(tensor) and tensor.element_size() == self.place.element_size()
        if alike and address(tensor) == address(self.place):
            self.starts -= _places(tensor)
        return self if self.starts else None


@dataclass(slots=True)
class UnderWay:
    """The collectives that a rank has begun and not waited for. `here()` is where the program is, `named(tensor)` what
    the program calls a tensor there, if it does."""

    rank: int
    here: Callable[[], Origin]
    named: Callable[[torch.Tensor], str]
    begun: list[Begun] = field(default_factory=list)
    lingering: list[Begun] = field(default_factory=list)    # what hooks have begun, until backward ends
    unsettled: list[Unsettled] = field(default_factory=list)
    found: Unawaited | None = None
    afterward: tuple[list[torch.Tensor], list[torch.Tensor]] | None = None  # what a callback reads, and what it writes

    def begin(self, one: Begun) -> None:
        self.begun.append(one)
        if str(one) != "reduce":
            return
        for node, tensor in zip(one.nodes, one.reads, strict=True):
            if (dst := node.kwargs["dst"]) != self.rank:
                what = self.named(tensor) or "a tensor"
                sentence = (f"rank {self.rank} looks at {what} after the reduce of {one.origin.spoken}, which leaves "
                            f"nothing certain there: only rank {dst} has the result")
                self.unsettled.append(Unsettled(tensor, _places(tensor), Unawaited(sentence, one.origin)))

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

    def linger(self, one: Begun) -> None:
        """Something that a hook has begun stays under way for the hooks after it."""
        self.lingering.append(one)

    def writing(self, tensor: torch.Tensor) -> Begun | None:
        """The collective that brings what this tensor is to hold, if it is under way."""
        return next((one for one in self.begun if any(address(tensor) == address(x) for x in one.writes)), None)

    def watch(self, operation: OpOverload, given: dict[str, Any]) -> None:
        """An operator is about to run. One that gives another view of the same memory reads nothing of it."""
        if not (self.begun or self.lingering or self.unsettled or self.afterward) or is_view(operation):
            return
        if operation._opname in SHAPES_ONLY:
            return
        names = [operation._schema.arguments[position].name for position in written(operation)]
        writes = list(tensors_in([given[name] for name in names if name in given]))
        self.touch(tensors_in([value for name, value in given.items() if name not in names]), writes)
        for tensor in writes if self.unsettled else ():
            if overwrites(operation):
                self.overwritten(tensor)
            else:
                self.demand_places(operation._opname, tensor)
                self.settle(tensor)

    def made(self, results: Any) -> Any:
        """What an operator gives; a callback has it when it runs, and others when they have waited for that."""
        if self.afterward is not None:
            self.afterward[1].extend(tensors_in(results))
        return results

    def touch(self, reads: Iterable[torch.Tensor], writes: Iterable[torch.Tensor]) -> None:
        """Note it if memory is read or written too early."""
        reads, writes = list(reads), list(writes)
        if self.afterward is not None:
            self.afterward[0].extend(reads)
            self.afterward[1].extend(writes)
        under_way = [*self.begun, *self.lingering]
        for tensor in reads:
            self.note("reads", tensor, [one for one in under_way if touched(tensor, one.writes)])
            self.settle(tensor)
        for tensor in writes:
            both = [one for one in under_way if touched(tensor, (*one.reads, *one.writes))]
            self.note("writes into", tensor, both)

    def bring(self, reads: Iterable[torch.Tensor], writes: Iterable[torch.Tensor]) -> None:
        """A collective is about to read and write. Where another one brings something to the same place, what is there
        in the end is not settled, which is a fault once somebody looks: torch warms pipelines up in that way."""
        self.touch(reads, ())
        for tensor in writes:
            self.note("writes into", tensor, [one for one in self.begun if touched(tensor, one.reads)])
            self.note("writes into", tensor, [o for o in self.lingering if touched(tensor, (*o.reads, *o.writes))])
            self.overwritten(tensor)
            for one in self.begun:
                if touched(tensor, one.writes):
                    fault = self.too_early("writes into", tensor, one)
                    self.unsettled.append(Unsettled(tensor, _places(tensor), fault))

    def overwritten(self, tensor: torch.Tensor) -> None:
        """Something is written into all of a tensor, and no one asks what was there."""
        self.unsettled = [left for one in self.unsettled if (left := one.without(tensor)) is not None]

    def returned(self, name: str, tensor: torch.Tensor) -> None:
        """Note it if an output of the program, or what it leaves in memory of others, is under way at the end."""
        self.note("ends with", tensor, [one for one in self.begun if touched(tensor, one.writes)], name)
        self.settle(tensor)

    def demand_places(self, name: str, tensor: torch.Tensor) -> None:
        """Raise Refused where data say which elements of such memory are written: nobody knows what is left of it."""
        fault = next((one.fault for one in self.unsettled if one.seen_in(tensor)), None)
        if name.startswith(BY_INDEX) and fault is not None:
            raise Refused(f"{self.here().spoken} writes by index into what holds nothing certain ({fault}); "
                          "write it whole, or into a new tensor")

    def settle(self, tensor: torch.Tensor) -> None:
        """Somebody looks at what a tensor holds."""
        if self.found is None:
            self.found = next((one.fault for one in self.unsettled if one.seen_in(tensor)), None)

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

    def __call__(self, by: Future | None = None) -> None:
        """Who waits has to wait for the callbacks, too: whoever waits for a collective alone goes on while they run."""
        followed = by.line() if by is not None else []
        if any(callback not in followed for callback in self.begun.callbacks):
            raise self.refusal("waits for a collective and not for a callback that it was given, which may run later; "
                               "wait for what .then() returns")
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
    where it is handed over, and all memory that it touches is under way from there until the program waits for it.
    What else it reads, the variables that it knows by name, has to be the same then. A communication hook may give
    callbacks, since torch waits for what it returns; elsewhere nobody knows what goes on beside them.
    """

    def __init__(self, waiting: Waiting, result: Any, parent: Future | None = None, known: Known | None = None) -> None:
        super().__init__()
        self.waiting, self.result, self.parent, self.known = waiting, result, parent, known

    def line(self) -> list[Future]:
        """This one, and those that it follows."""
        return [self, *(self.parent.line() if self.parent is not None else [])]

    def wait(self) -> Any:
        self.waiting(self)
        if any(one.known is not None and one.known.has_changed() for one in self.line()):
            raise self.waiting.refusal("changes a variable that a callback of a future reads, and when that runs "
                                       "nobody knows; hand the value over as a default (lambda f, k=k: …)")
        return self.result

    def value(self) -> Any:
        if self.waiting.under_way.holds(self.waiting.begun):
            self._no_answer()
        return self.result

    def then(self, callback: Callable[[Any], Any]) -> Any:
        if not IN_HOOK.get():
            raise self.waiting.refusal("gives a future a callback, which is followed in communication hooks alone; "
                                       ".wait() and go on from there")
        known = Known(callback)
        with self.waiting.under_way.afterwards(self.waiting.begun):
            made = Future(self.waiting, callback(arrived(self.result)), self, known)
        self.waiting.begun.callbacks.append(made)
        return made

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.then(callback)

    def _no_answer(self, *_: Any) -> Any:
        raise self.waiting.refusal("asks for a collective's result before .wait(), and when that is there nobody knows")

    done = _no_answer


class Together(torch.futures.Future[Any]):
    """The future of several, `collect_all`: who waits for it waits for each."""

    def __init__(self, futures: Sequence[torch.futures.Future[Any]]) -> None:
        super().__init__()
        self.futures = list(futures)

    def wait(self) -> Any:
        return [arrived(one.wait()) for one in self.futures]

    def _one_by_one(self, *_: Any) -> Any:
        raise Refused("the program asks collect_all's future for more than .wait(); wait for its futures one by one")

    then: Any = _one_by_one
    value = done = _one_by_one

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._one_by_one(callback)


@contextmanager
def futures_together() -> Iterator[None]:
    """Inside, `collect_all` and `wait_all` take futures of collectives, whose result no thread of torch's will set."""
    with patch.object(torch._C, "_collect_all", Together):          # which both call, by whatever name they are known
        yield


class Known:
    """What a function knows by name beside its arguments, as it is now: variables around it, and globals."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.values = list(self._now())

    def has_changed(self) -> bool:
        now = list(self._now())
        return len(now) != len(self.values) or any(a is not b for a, b in zip(now, self.values, strict=True))

    def _now(self) -> Iterator[Any]:
        code = getattr(self.function, "__code__", None)
        names = code.co_names if code is not None else ()
        around = [cell.cell_contents for cell in getattr(self.function, "__closure__", None) or ()]
        for value in (*around, *(self.function.__globals__.get(name) for name in names)):
            yield from _with_parts(value)
            yield from (getattr_static(value, name, None) for name in names)       # state.k, and names that are none


def _with_parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, list | tuple | dict):
        yield from value.values() if isinstance(value, dict) else value


def arrived(result: Any) -> Any:
    """A future that has its result."""
    done: Any = torch.futures.Future()
    done.set_result(result)
    return done


def overwrites(operation: OpOverload) -> bool:
    """Whether an operator writes all of what it writes into, and reads nothing of it."""
    name = operation._opname
    return name in OVERWRITES or name in SEVERAL or operation._schema.overload_name.endswith("out")


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


def _places(tensor: torch.Tensor) -> set[int]:
    """Where each element starts, in bytes."""
    start, stop = extent(tensor)
    numbers = torch.arange(start, stop, tensor.element_size())
    return set(numbers.as_strided(tuple(tensor.shape), tensor.stride(), 0).flatten().tolist())
