"""Memory: makes views and in-place writes pure.

Programs write into tensors, and other tensors may be views of the same memory. Here each storage has a value, a node,
and each tensor is a chain of view steps from it. A write through a view computes the storage's next value by undoing
the steps: writing `v` into `x.t()[2]` makes `x' = select_scatter(x.t(), v, 0, 2).t()`. Every other view of that storage
is then stale, and its steps are applied to the new value when it is next read. What shares memory with what is not
guessed from operators' schemas: the program runs on real tensors, and their storages tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from samesame.capture.tape import Emit
from samesame.evidence import Refused
from samesame.graph import Node, NodeType, TensorType, map_nodes


@dataclass(frozen=True, slots=True)
class Step:
    """One view operator, applied to `viewed`; `index` picks one of several results (split, unbind)."""

    operator: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    viewed: Node
    index: int | None
    type: NodeType

    @property
    def result(self) -> TensorType:
        return self.type[self.index] if isinstance(self.type, tuple) and self.index is not None else self.type  # type: ignore[return-value]

    def apply(self, node: Node, emit: Emit) -> Node:
        """The same view of another value."""
        def moved(argument: Any) -> Any:
            return map_nodes(lambda n: node if n is self.viewed else n, argument)

        made = emit(self.operator, moved(self.args), {k: moved(v) for k, v in self.kwargs.items()}, self.type)
        return made if self.index is None else emit("getitem", (made, self.index), {}, self.result)


@dataclass(eq=False, slots=True)
class Storage:
    """A piece of memory: the value of the whole of it, and how often it was written."""

    whole: torch.Tensor
    node: Node
    source: bool
    version: int = 0
    entangled: bool = False


@dataclass(eq=False, slots=True)
class View:
    """A tensor as steps from its storage, and its value when the storage was at `version`."""

    storage: Storage
    steps: tuple[Step, ...]
    node: Node
    version: int


@dataclass(slots=True)
class Memory:
    """All storages and views.

    `source(tensor)` makes the node of a tensor that was there before, `refusal(why)` the error to raise. Whether such a
    tensor is a view of others, or has others in it, `lying(tensor)` is asked first.
    """

    emit: Emit
    source: Callable[[torch.Tensor], Node]
    refusal: Callable[[str], Refused]
    lying: Callable[[torch.Tensor], View | None] = lambda _: None
    views: dict[int, tuple[torch.Tensor, tuple[Any, ...], View]] = field(default_factory=dict)
    places: dict[tuple[Any, ...], View] = field(default_factory=dict)
    storages: dict[int, list[Storage]] = field(default_factory=dict)
    before: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)

    def fresh(self, tensor: torch.Tensor, node: Node, *, source: bool = False) -> View:
        """A tensor in memory of its own, with this value."""
        self.demand_memory(tensor)
        storage = Storage(tensor, node, source)
        self.storages.setdefault(address(tensor), []).append(storage)
        return self.bind(tensor, View(storage, (), node, 0))

    def alias(self, tensor: torch.Tensor, view: View, step: Step, node: Node) -> View:
        """A tensor that is one more step from `view`."""
        return self.bind(tensor, View(view.storage, (*view.steps, step), node, view.storage.version))

    def demand_memory(self, tensor: torch.Tensor) -> None:
        """Raise Refused for a tensor whose elements stand nowhere: sparse, quantized, without values."""
        if not has_memory(tensor):
            raise self.refusal(f"uses {kind_in_words(tensor)}; use an ordinary dense tensor")

    def bind(self, tensor: torch.Tensor, view: View) -> View:
        key = place_of(tensor)
        self.views[id(tensor)] = tensor, key, view            # the tensor is kept, so that its id stays its own
        self.places[key] = view
        return view

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's place in memory has been seen."""
        return place_of(tensor) in self.places

    def view(self, tensor: torch.Tensor) -> View:
        """What is known of a tensor; one never seen is either other words for a known place, or a source."""
        self.demand_memory(tensor)
        key = place_of(tensor)
        known = self.views.get(id(tensor))
        if known is not None and known[1] == key:
            return known[2]
        if key in self.places:
            return self.bind(tensor, self.places[key])
        return self.lying(tensor) or self.outside(tensor)

    def reshaped(self, tensor: torch.Tensor, other: torch.Tensor) -> View:
        """A tensor that has the elements of another in the same order, and in the same memory."""
        view, node = self.view(other), self.read(other)
        step = self.step(node, "aten.reshape.default", tuple(tensor.shape))
        return self.alias(tensor, view, step, step.apply(node, self.emit))

    def holding(self, tensor: torch.Tensor, node: Node, parts: Iterable[tuple[torch.Tensor, int]]) -> View:
        """A tensor from outside, with this value, in which others lie: each is a run of its elements, from one on. What
        was known of these, and of their views, is known of its memory from here."""
        storages = [(self.view(part).storage, part, start) for part, start in parts]
        whole = self.fresh(tensor, node, source=True)
        if any(storage.version for storage, _, _ in storages):
            self.before.append((tensor, tensor.clone()))
            whole.version = whole.storage.version = 1
        flat = self.step(node, "aten.reshape.default", (tensor.numel(),))
        line = flat.apply(node, self.emit)
        for storage, part, start in storages:
            run = self.step(line, "aten.slice.Tensor", (part.numel(),), 0, start, start + part.numel())
            shaped = self.step(run.apply(line, self.emit), "aten.reshape.default", tuple(part.shape))
            self.move(storage, whole.storage, (flat, run, shaped))
        return whole

    def step(self, node: Node, operator: str, shape: tuple[int, ...], *args: int) -> Step:
        """A view of a value, of this shape; the operator takes these numbers, or the shape."""
        assert isinstance(node.type, TensorType)
        return Step(operator, (node, *(args or (shape,))), {}, node, None, TensorType(shape, node.type.dtype))

    def move(self, storage: Storage, whole: Storage, steps: tuple[Step, ...]) -> None:
        """A storage that was none of its own is a part of another one."""
        self.storages[address(storage.whole)].remove(storage)
        known = {id(view): view for view in (*self.places.values(), *(view for _, _, view in self.views.values()))}
        for view in known.values():
            if view.storage is storage:
                is_stale = view.version != storage.version
                view.storage, view.steps = whole, (*steps, *view.steps)
                view.version = -1 if is_stale else whole.version

    def outside(self, tensor: torch.Tensor) -> View:
        sharing = [s for s in self.storages.get(address(tensor), ()) if overlap(s.whole, tensor)]
        if any(not s.source or s.version for s in sharing):
            raise self.refusal(
                "reads memory that was written through another tensor in a way torch does not show; "
                "copy the tensor with .clone() first"
            )
        view = self.fresh(tensor, self.source(tensor), source=True)
        for storage in (*sharing, *([view.storage] if sharing else ())):
            storage.entangled = True
        return view

    def read(self, tensor: torch.Tensor) -> Node:
        """The node of a tensor's present value."""
        view = self.view(tensor)
        storage = view.storage
        if view.version != storage.version:
            node = storage.node
            for step in view.steps:
                node = step.apply(node, self.emit)
            view.node, view.version = node, storage.version
        return view.node

    def write(self, tensor: torch.Tensor, node: Node) -> None:
        """Give a tensor a new value, and with it every other view of its memory. Call `will_write` before the fact."""
        view = self.view(tensor)
        storage = view.storage
        parts = [storage.node]
        for step in view.steps[:-1]:
            parts.append(step.apply(parts[-1], self.emit))
        value = node
        for step, part in zip(reversed(view.steps), reversed(parts), strict=False):
            value = self.undo(step, part, value)
        storage.node = value
        storage.version += 1
        view.node, view.version = node, storage.version

    def undo(self, step: Step, part: Node, value: Node) -> Node:
        undo = UNDO.get(step.operator)
        if undo is None:
            raise self.refusal(f"writes through {step.operator}, which cannot be followed; write to a copy")
        return undo(step, part, value, self.emit)

    def will_write(self, tensor: torch.Tensor) -> None:
        """Remember what stood in memory that is not the program's own, to be put back by `restore`."""
        storage = self.view(tensor).storage
        if storage.entangled:
            raise self.refusal("writes into memory that two tensors from outside share; give each its own")
        if storage.source and storage.version == 0:
            self.before.append((storage.whole, storage.whole.clone()))

    @property
    def written(self) -> list[torch.Tensor]:
        """The tensors from outside that the program wrote into."""
        return [tensor for tensor, _ in self.before]

    @property
    def changed(self) -> list[torch.Tensor]:
        """Those that hold something else than before, in the order in which the program came upon them."""
        return [s.whole for storages in self.storages.values() for s in storages if s.source and s.version]

    def restore(self) -> None:
        """Undo the program's writes into tensors from outside."""
        for tensor, value in reversed(self.before):        # what was written in parts may be there as a whole, too
            tensor.copy_(value)


def address(tensor: torch.Tensor) -> int:
    """The identity of the storage a tensor lies in."""
    return int(tensor.untyped_storage()._cdata)


def place_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Which elements of which storage, in which order: tensors of one place hold one value."""
    layout = tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.dtype
    return (address(tensor), *layout, tensor.is_conj(), tensor.is_neg())


def has_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor's elements stand in memory of its own, each with a value."""
    plain = tensor.layout == torch.strided and tensor.device.type != "meta" and not tensor.is_quantized
    wraps = isinstance(tensor, FakeTensor) or is_traceable_wrapper_subclass(tensor)
    return plain and not wraps and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def kind_in_words(tensor: torch.Tensor) -> str:
    """What kind of tensor this is, for a message about one that has no memory."""
    layout = str(tensor.layout).removeprefix("torch.").removesuffix("_coo").removesuffix("_csr")
    kind = "quantized" if tensor.is_quantized else layout
    return f"a {kind} {type(tensor).__name__} on {tensor.device}"


def overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one storage may share an element."""
    (a0, a1), (b0, b1) = extent(a), extent(b)
    return a0 < b1 and b0 < a1


def extent(tensor: torch.Tensor) -> tuple[int, int]:
    """First byte, and the one after the last, of a tensor in its storage."""
    start = int(tensor.storage_offset()) * tensor.element_size()
    if tensor.numel() == 0:
        return start, start
    reach = sum((int(size) - 1) * int(stride) for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return start, start + (reach + 1) * tensor.element_size()


# ------------------------------------------------------------------------------------------- undoing a view, one by one


Undo = Callable[[Step, Node, Node, Emit], Node]


def _argument(step: Step, position: int, name: str, default: Any) -> Any:
    """An argument of a view operator, given by position, by name, or not at all."""
    return step.args[position] if len(step.args) > position else step.kwargs.get(name, default)


def _reshape(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    return emit("aten.reshape.default", (value, part.shape), {}, part.type)


def _again(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    """Done twice, it undoes itself."""
    return emit(step.operator, (value, *step.args[1:]), step.kwargs, part.type)


def _permute(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    rank = len(part.shape)
    order = [dim % rank for dim in step.args[1]]
    return emit(step.operator, (value, tuple(order.index(dim) for dim in range(rank))), {}, part.type)


def _select(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    return emit("aten.select_scatter.default", (part, value, *step.args[1:]), step.kwargs, part.type)


def _slice(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    return emit("aten.slice_scatter.default", (part, value, *step.args[1:]), step.kwargs, part.type)


def _diagonal(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    return emit("aten.diagonal_scatter.default", (part, value, *step.args[1:]), step.kwargs, part.type)


def _piece(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    """Split: the piece lies after those before it."""
    assert step.index is not None and isinstance(step.type, tuple)
    dim = _argument(step, 2, "dim", 0)
    start = sum(piece.shape[dim] for piece in step.type[: step.index])
    stop = start + value.shape[dim]
    return emit("aten.slice_scatter.default", (part, value, dim, start, stop), {}, part.type)


def _unbound(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    return emit("aten.select_scatter.default", (part, value, _argument(step, 1, "dim", 0), step.index), {}, part.type)


def _strided(step: Step, part: Node, value: Node, emit: Emit) -> Node:
    return emit("aten.as_strided_scatter.default", (part, value, *step.args[1:]), step.kwargs, part.type)


def _inverse(operator: str) -> Undo:
    return lambda step, part, value, emit: emit(operator, (value,), {}, part.type)


UNDO: dict[str, Undo] = {
    "aten.reshape.default": _reshape,
    "aten.unsqueeze.default": _reshape,
    "aten.squeeze.default": _reshape,
    "aten.squeeze.dim": _reshape,
    "aten.squeeze.dims": _reshape,
    "aten.t.default": _again,
    "aten.transpose.int": _again,
    "aten.permute.default": _permute,
    "aten.select.int": _select,
    "aten.slice.Tensor": _slice,
    "aten.diagonal.default": _diagonal,
    "aten.split.Tensor": _piece,
    "aten.split_with_sizes.default": _piece,
    "aten.unsafe_split.Tensor": _piece,                    # "unsafe" for gradients only: its pieces share memory too
    "aten.unsafe_split_with_sizes.default": _piece,
    "aten.unbind.int": _unbound,
    "aten.as_strided.default": _strided,
    "aten.view_as_real.default": _inverse("aten.view_as_complex.default"),
    "aten.view_as_complex.default": _inverse("aten.view_as_real.default"),
    "aten._conj.default": _again,
    "aten._neg_view.default": _again,
}
