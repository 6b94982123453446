"""Following sizes: one more run of a program, in which the sizes of its tensors remember what is asked of them.

The run is recorded like any other, at the sizes of the example, and must give the same graph; what it asked of sizes on
the way are the conditions under which the program takes the same way again. Every way by which torch hands a size to
Python gives one that remembers (`followed.py`), and every call of torch gets plain numbers, of which is noted what they
were made of. Functions of torch that are written in Python are followed inside, as the program is.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from samesame.capture.calls import SECOND_INPUT, CallRecorder
from samesame.capture.exits import OF_NUMBERS, may_want_gradients
from samesame.capture.memory import place_of
from samesame.capture.program import Program
from samesame.capture.reading import ONLY_WARN
from samesame.capture.record import Recorder
from samesame.capture.sizes.followed import (
    NOTHING,
    Atoms,
    Followed,
    Log,
    Shape,
    atoms_of,
    expression,
    mathematics,
    plain,
    taken_back,
)
from samesame.capture.snapshot import kept
from samesame.capture.spelled import SAME
from samesame.evidence import Refused, SamesameError
from samesame.formula.expr import Expr, Size, add, const, floordiv
from samesame.graph import Graph, Node, Origin, map_nodes
from samesame.operators.defaults import with_defaults
from samesame.operators.execute import few_threads
from samesame.programs.alone import alone

functorch = torch._C._functorch
UNTOLD = frozenset([Size("?", 0)])                         # what no tensor's dimension is
TO_THE_END = 1 << 62                                       # a slice's end from here on is none


@dataclass(frozen=True, slots=True)
class Call:
    """A call of torch that was given numbers made of sizes: the nodes it made, by position on the tape, and what the
    numbers were; `known` if each of them has an expression."""

    nodes: range
    numbers: tuple[Expr, ...]
    atoms: Atoms
    known: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class LetOut:
    """A tensor whose values the program looked at, which it may since they are its own; at other sizes they may be
    others."""

    node: Node
    doing: str
    origin: Origin


@dataclass(slots=True)
class Followings:
    """What one run asked of its sizes: conditions, where sizes were lost, which numbers torch was given, whose values
    were looked at; `nodes` are all of the tape, and `failed` says why the run could not be followed at all, as where
    it computes gradients that are off."""

    log: Log
    nodes: Sequence[Node] = ()
    calls: list[Call] = field(default_factory=list)
    let_out: list[LetOut] = field(default_factory=list)
    failed: str = ""
    differentiates: bool = False


def follow(program: Any, example: Any, recorded: Graph, how: str = "record") -> Followings:
    """Run a program once more on the example on which it was recorded, with sizes that remember; with gradients where
    it computes some, as it is recorded then."""
    if how not in ("record", "gradients"):
        return Followings(Log(Origin), failed=f"sizes cannot be followed through torch.export (--how {how})")
    target = Program(program, example, how == "gradients")
    with few_threads(tensor.numel() for tensor in target.held):
        found = _followed(_recorder(target, recorded))
    if how == "record" and found.differentiates:
        return follow(program, example, recorded, "gradients")
    other = None if found.failed else _first_other(recorded, found)
    if other is not None:
        found.failed = f"{other.origin.spoken} does something else while sizes are followed"
    return found


def _first_other(recorded: Graph, found: Followings) -> Node | None:
    """The first node of the recorded graph that the run made in another way."""
    known = {node.name: node for node in with_defaults(Graph(recorded.name, tuple(found.nodes), ())).nodes}

    def said(node: Node) -> tuple[Any, ...]:
        args = map_nodes(lambda part: part.name, node.args)
        return node.operator, args[: len(node.args)], node.type

    for node in (*recorded.nodes, *(node for node in recorded.unread if not node.is_source)):
        other = known.get(node.name)
        if other is None:
            return node
        one, same = said(node), said(other)
        if one != same and repr(one) != repr(same) and not node.is_source:      # NaN is not equal to itself
            return node
    return None


def _recorder(program: Program, recorded: Graph) -> _Recorder:
    """What records the calls that a graph is of: one or two, the second on the same values or on others."""
    later = [node.name for node in recorded.sources("input") if node.name.startswith(SECOND_INPUT)]
    if not later:
        return _Recorder(program)
    values = recorded.tensors
    repeats = all(torch.equal(values[name], values[name.removeprefix(SECOND_INPUT)]) for name in later)
    return _OfTwoCalls(program, 2, (), False, repeats)


def _followed(recorder: _Recorder) -> Followings:
    try:
        with kept(recorder.program), following(recorder):
            outputs = recorder.run()
        for _, output in outputs:
            recorder.memory.read(output)
    except SamesameError as refused:
        recorder.followings.failed = str(refused)
        recorder.followings.differentiates = isinstance(refused, Refused) and may_want_gradients(refused)
    finally:
        taken_back(recorder.followings.log)
        recorder.restore()
    recorder.followings.nodes = tuple(recorder.tape.nodes)
    return recorder.followings


class _Recorder(Recorder):                                 # type: ignore[no-untyped-call]
    """Notes also whose values the program looks at."""

    def __init__(self, program: Program, *calls: Any) -> None:
        super().__init__(program, *calls, borrows=True)    # type: ignore[misc]
        self.followings = Followings(Log(self.here))
        self.calls = 0                                     # of torch by Python, that are under way
        self.indexing = False                              # is the last of them an index, whose bounds were asked?

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if not self.calls and str(operation) not in SAME:
            self.followings.log.lose("runs code that torch does not show, which may decide on sizes", UNTOLD)
        elif operation is torch.ops.aten.slice.Tensor and not self.indexing:
            self.cut_off(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():              # what the recorder asks of sizes is no question of theirs
            return super().__torch_dispatch__(operation, types, args, kwargs)

    def node(self, tensor: torch.Tensor) -> Node | None:
        """The node of a tensor that the run has seen."""
        memory = self.memory
        known = memory.views.get(id(tensor))
        key = place_of(tensor)
        view = known[2] if known is not None and known[1] == key else memory.places.get(key)
        return None if view is None else view.node

    def dims(self, tensor: torch.Tensor) -> Shape:
        """The sizes of a tensor, which remember; those of weights and of what was there before are numbers. One that
        stands for a batch of tensors, or wants a derivative, has those of what is inside, without the batch."""
        if functorch.is_functorch_wrapped_tensor(tensor):
            inside = list(self.dims(functorch.get_unwrapped(tensor)))
            if functorch.is_batchedtensor(tensor):
                del inside[functorch.maybe_get_bdim(tensor)]
            return Shape(inside)
        node, shape, log = self.node(tensor), tuple(tensor.size()), self.followings.log
        if node is None or node.shape != shape:
            if node is None and (self.program.named(tensor) or id(tensor) in self.outside):
                return Shape(shape)
            return Shape(Followed(log, n, None, UNTOLD) for n in shape)
        if node.operator in ("parameter", "constant"):
            return Shape(shape)
        atoms = [Size(f"{node.name}:{d}", 0) for d in range(len(shape))]
        return Shape(Followed(log, n, atom, frozenset([atom])) for n, atom in zip(shape, atoms, strict=True))

    def cut_off(
        self, tensor: torch.Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
    ) -> None:
        """A slice beyond the end is the whole, which no node of the graph says."""
        n = self.dims(tensor)[dim]
        for beyond in (-(start or 0), end or 0):
            if plain(n) < beyond < TO_THE_END:
                self.followings.log.ask("≤", n, beyond)

    def demand_closed(self, tensors: Iterator[torch.Tensor], doing: str, *instead: str) -> None:
        seen, here = list(tensors), self.here()
        with torch._C.DisableTorchFunction():
            super().demand_closed(iter(seen), doing, *instead)
            if (here.file, here.function) not in ONLY_WARN:
                self.followings.let_out += [LetOut(self.memory.read(tensor), doing, here) for tensor in seen]


class _OfTwoCalls(_Recorder, CallRecorder):                # type: ignore[no-untyped-call]
    """Follows the second call as it does the first."""


@contextmanager
def following(recorder: _Recorder) -> Iterator[None]:
    """Inside, sizes of tensors remember."""
    mode = Following(recorder)
    python = {"len": _length, "print": _printing}
    with alone(), ExitStack() as stack:
        stack.enter_context(_replaced(builtins, python))
        stack.enter_context(_replaced(torch._functorch.vmap, {name: _numbered(recorder, name)
                                                              for name in OF_BATCHES}))
        stack.enter_context(_replaced(math, {"sqrt": mathematics("sqrt", math.sqrt)}))
        for module in (torch.nn.functional, torch.functional):
            stack.enter_context(_replaced(module, {name: _plainly(getattr(module, name)) for name in OVERRIDES
                                                   if hasattr(module, name)}))
        stack.enter_context(mode)
        yield


OVERRIDES = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


def _plainly(ask: Callable[..., bool]) -> Callable[..., bool]:
    """A function of torch written in Python runs as it is where its arguments are ordinary tensors, so that what it
    asks of sizes is seen."""

    def overridden(*arguments: Any) -> bool:
        given = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], tuple) else arguments
        ordinary = all(type(a) in (torch.Tensor, torch.nn.Parameter) for a in given if isinstance(a, torch.Tensor))
        return False if ordinary else ask(*arguments)

    return overridden


OF_BATCHES = ("_vmap_increment_nesting", "_add_batch_dim", "_remove_batch_dim")


def _numbered(recorder: _Recorder, name: str) -> Callable[..., Any]:
    """A function of vmap that is written in C: it takes sizes for plain numbers, and decides nothing by them."""
    function = getattr(torch._functorch.vmap, name)

    def called(*args: Any) -> Any:
        recorder.calls += 1
        try:
            return function(*unwrapped(args, []))
        finally:
            recorder.calls -= 1

    return called


LENGTH, PRINT = builtins.len, builtins.print


def _length(thing: Any) -> Any:
    """`len` of a tensor is a size, too."""
    return thing.shape[0] if isinstance(thing, torch.Tensor) and thing.dim() else LENGTH(thing)


def _printing(*things: Any, file: Any = None, **how: Any) -> None:
    """What is only shown to people decides nothing."""
    shown = unwrapped(things, []) if file is None or file in (sys.stdout, sys.stderr) else things
    PRINT(*shown, file=file, **how)


@contextmanager
def _replaced(module: Any, names: dict[str, Any]) -> Iterator[None]:
    before = {name: getattr(module, name) for name in names}
    for name, value in names.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


class Following(TorchFunctionMode):
    """Gives out sizes that remember, and takes them back."""

    def __init__(self, recorder: _Recorder) -> None:
        super().__init__()
        self.recorder, self.found, self.log = recorder, recorder.followings, recorder.followings.log

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        asked = ASKED.get(function)
        if asked is not None:
            return asked(self, *args, **kwargs)
        given: list[Followed] = []
        numbers, options = unwrapped(args, given), unwrapped(kwargs, given)
        if function in INDEXED:
            self.indexed(args[0], args[1])
        self.recorder.indexing = function in INDEXED
        if function in OF_NUMBERS:
            for size in given:
                self.log.lose("makes a tensor of sizes", size.atoms)
        pieces = PIECES.get(function)
        extra = pieces(self, *args, **kwargs) if pieces is not None else ()
        start = len(self.recorder.tape.nodes)
        self.recorder.calls += 1
        try:
            result = function(*numbers, **options)
        except Exception:                                  # the program may catch it, and at other sizes there is none
            tensors = (part for part in tree_leaves((args, kwargs)) if isinstance(part, torch.Tensor))
            read = NOTHING.union(*(size.atoms for size in given), *(atoms_of(n) for t in tensors for n in self.dims(t)))
            self.log.lose("calls an operator that fails here", read)
            raise
        finally:
            self.recorder.calls -= 1
        if not given and not extra:
            return result
        exprs = [size.expr for size in (*given, *extra)]
        self.found.calls.append(Call(
            range(start, len(self.recorder.tape.nodes)),
            tuple(e for e in exprs if e is not None),
            frozenset().union(*(size.atoms for size in (*given, *extra))),
            None not in exprs,
            self.recorder.here(),
        ))
        return result

    # ------------------------------------------------------------------------------------------------- what sizes are

    def dims(self, tensor: torch.Tensor) -> Shape:
        return self.recorder.dims(tensor)

    def size(self, tensor: torch.Tensor, dim: Any = None) -> Any:
        dims = self.dims(tensor)
        return dims if dim is None else dims[int(plain(dim))]

    def numel(self, tensor: torch.Tensor) -> Any:
        return math.prod(self.dims(tensor))

    def nbytes(self, tensor: torch.Tensor) -> Any:
        return self.numel(tensor) * tensor.element_size()

    def stride(self, tensor: torch.Tensor, dim: Any = None) -> Any:
        """How far apart neighbours lie: known where the tensor is contiguous."""
        dims, plainly = self.dims(tensor), tensor.stride()
        if tensor.is_contiguous():
            found = [math.prod(dims[d + 1 :]) for d in range(len(dims))]
        else:
            found = [self.unknown(n, dims) for n in plainly]
        return tuple(found) if dim is None else found[int(plain(dim))]

    def offset(self, tensor: torch.Tensor) -> Any:
        return self.unknown(int(tensor.storage_offset()), self.dims(tensor))

    def unknown(self, number: int, dims: Sequence[Any]) -> Any:
        """A number that sizes decide in a way that is not followed; 0 and 1 are taken for what they are."""
        atoms = frozenset().union(*map(atoms_of, dims)) if dims else NOTHING
        return Followed(self.log, number, None, atoms) if atoms and number > 1 else number

    # ------------------------------------------------------------------------------- operators that decide on sizes

    def indexed(self, tensor: torch.Tensor, index: Any) -> None:
        """The bounds of slices are cut off at the ends of a dimension."""
        parts = list(index) if isinstance(index, tuple) else [index]
        dims = self.dims(tensor)
        taken = sum(_rank(part) for part in parts)
        d = 0
        for part in parts:
            if part is Ellipsis:
                d += len(dims) - taken
                continue
            if isinstance(part, slice) and d < len(dims):
                self.bounded(part.start, dims[d])
                self.bounded(part.stop, dims[d], ends=True)
            d += _rank(part)

    def bounded(self, bound: Any, n: Any, *, ends: bool = False) -> None:
        if bound is None or isinstance(bound, torch.Tensor) or plain(bound) >= TO_THE_END:
            return
        if bound < 0:
            bound = bound + n
            if bound <= 0:                                 # each question is noted; at equality both answers are one
                return
        within = ends and plain(bound) < plain(n)          # what ends at n is cut off and whole: both are one there
        self.log.ask("≤" if within else "≥", bound, n)

    def chunks(self, tensor: torch.Tensor, chunks: Any, *_: Any, dim: Any = 0, **__: Any) -> tuple[Any, ...]:
        """The size of the pieces, as torch computes it."""
        n = self.dims(tensor)[int(plain(_[0] if _ else dim))]
        e = expression(n)
        if not isinstance(n, Followed) and type(n) is not Followed:
            return ()
        count = int(plain(chunks))
        size = None if e is None else floordiv(add(e, count - 1), count)
        piece = Followed(self.log, -(-plain(n) // count), None if size is None else const(size), n.atoms)
        self.pieces(n, piece)
        return (piece,)

    def splits(self, tensor: torch.Tensor, size: Any, dim: Any = 0) -> tuple[Any, ...]:
        """How many pieces there are, which is asked both ways."""
        if isinstance(size, int) and plain(size) > 0:
            self.pieces(self.dims(tensor)[int(plain(dim))], size)
        return ()

    def pieces(self, n: Any, size: Any) -> None:
        pieces = max(-(-plain(n) // max(plain(size), 1)), 1)
        self.log.ask("≤", n, pieces * size)
        if pieces > 1:
            self.log.ask(">", n, (pieces - 1) * size)

    def rows(self, tensor: torch.Tensor, dim: Any = 0) -> tuple[Any, ...]:
        """One result for each row, and Python sees how many."""
        if tensor.dim():
            n = self.dims(tensor)[int(plain(dim))]
            self.log.ask("=", n, plain(n))
        return ()

    def memory(self, tensor: torch.Tensor, *_: Any, **__: Any) -> tuple[Any, ...]:
        """What tells how much memory a tensor has tells its sizes."""
        atoms = NOTHING.union(*map(atoms_of, self.dims(tensor)))
        self.log.lose("looks at the memory of a tensor", atoms)
        return ()


def _rank(part: Any) -> int:
    """How many dimensions one part of an index takes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.dim() if isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8) else 1


def unwrapped(argument: Any, found: list[Followed]) -> Any:
    """The argument with plain numbers in place of sizes that remember, which are added to `found`."""
    kind = type(argument)
    if kind is Followed:
        found.append(argument)
        return argument.value
    if kind is Shape:
        return torch.Size([unwrapped(part, found) for part in argument])
    if kind is tuple or kind is list:
        return kind([unwrapped(part, found) for part in argument])
    if kind is dict:
        return {name: unwrapped(part, found) for name, part in argument.items()}
    if kind is slice:
        return slice(*(unwrapped(part, found) for part in (argument.start, argument.stop, argument.step)))
    return argument


# Ways by which torch tells Python a size.
ASKED: dict[Any, Callable[..., Any]] = {
    torch.Tensor.shape.__get__: lambda mode, tensor, *_: mode.dims(tensor),      # type: ignore[attr-defined]
    torch.Tensor.size: Following.size,
    torch.Tensor.__len__: lambda mode, tensor: mode.dims(tensor)[0],
    torch.Tensor.numel: Following.numel,
    torch.Tensor.nelement: Following.numel,
    torch.numel: Following.numel,
    torch.Tensor.is_same_size: lambda mode, a, b: mode.dims(a) == mode.dims(b),
    torch.is_same_size: lambda mode, a, b: mode.dims(a) == mode.dims(b),
    torch.Tensor.nbytes.__get__: lambda mode, tensor, *_: mode.nbytes(tensor),   # type: ignore[attr-defined]
    torch.Tensor.stride: Following.stride,
    torch.Tensor.storage_offset: Following.offset,
}
INDEXED = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
# Functions that compute a size of their own in C++, or decide by one.
PIECES: dict[Any, Callable[..., Any]] = {
    torch.Tensor.split: Following.splits,
    torch.chunk: Following.chunks,
    torch.Tensor.chunk: Following.chunks,
    torch.unsafe_chunk: Following.chunks,
    torch.Tensor.unsafe_chunk: Following.chunks,
    **dict.fromkeys((torch.Tensor.__iter__, torch.Tensor.unbind, torch.unbind), Following.rows),
    **dict.fromkeys((torch.Tensor.untyped_storage, torch.Tensor.storage, torch.Tensor.data_ptr,
                     torch._shape_as_tensor), Following.memory),
}
