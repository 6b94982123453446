"""What is known of chosen rows while a program is recorded: which tensors have some, and of which mask.

It stands between the program and the recorder: an operator that asks a mask for its true positions gets all positions,
one that adds up, writes or averages chosen rows is replaced (`endings`), and of every node that is recorded it is
worked out which of its dimensions run over chosen rows (`carried`), or the program is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, Protocol

import torch
from torch.utils._python_dispatch import _disable_current_modes

from samesame.capture.rows.carried import Axes, Axis, Mixes, Selection, carried
from samesame.capture.rows.endings import ENDINGS, broad
from samesame.capture.rows.sites import Site, tells
from samesame.capture.tape import type_of
from samesame.evidence import Refused
from samesame.graph import Node

Tensor = torch.Tensor
Places = tuple[Selection, tuple[int, ...]]                 # dimensions of a mask, in the order in which they index

ALL_ROWS = "compute all rows, and choose by torch.where, or by a factor of 0 or 1"
ASKS = frozenset(("item", "is_nonzero", "_local_scalar_dense"))


class Recording(Protocol):
    """What is asked of a recorder; as a context manager it is the mode that records."""

    memory: Any
    tape: Any

    def here(self) -> Any: ...
    def refusal(self, why: str, kind: type[Refused] = Refused) -> Refused: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *error: Any) -> Any: ...


class Rows:
    """The selections of one recording, and the axes of its nodes."""

    def __init__(self, recorder: Recording) -> None:
        self.recorder, self.memory, self.tape = recorder, recorder.memory, recorder.tape
        self.known: dict[Node, Any] = {}                   # axes by node, or a tuple of them for several results
        self.selections: dict[Any, Selection] = {}
        self.sites: dict[Node, Site] = {}                  # by the masks, and by what was asked of masks
        self.valid: set[Node] = set()                      # indices that are valid in rows that are not chosen, too
        self.numbers: dict[Node, Selection] = {}           # 0, 1, … for the chosen rows
        self.taken: dict[Node, tuple[Node, Places]] = {}   # rows of a tensor at places
        self.summands: dict[tuple[Node, Node], tuple[Tensor, Tensor]] = {}
        self.trusted = self.iterates = False

    # ------------------------------------------------------------------------------------------------- what is asked

    def refusal(self, doing: str) -> Refused:
        what = doing if "rows" in doing else f"{doing} rows that data chose"
        return self.recorder.refusal(f"{what}, so the graph depends on data; {ALL_ROWS}")

    def node(self, tensor: Tensor) -> Node:
        found: Node = self.memory.read(tensor)
        return found

    def axes(self, tensor: Tensor) -> Axes:
        """The axes of a tensor, one for each dimension."""
        none = (None,) * tensor.dim()
        if not self.known or not self.memory.knows(tensor):
            return none
        found: Axes = self.known.get(self.node(tensor), none)
        return found

    def of(self, tensor: Tensor, dim: int) -> Axis:
        axes = self.axes(tensor)
        return axes[dim] if axes else None

    def is_open(self, tensor: Tensor) -> bool:
        return self.node(tensor) in self.tape.open

    def follow(self, node: Node) -> None:
        """Work out the axes of a node that was recorded."""
        if not self.known or self.trusted:
            return
        if any(part in self.numbers for part in node.inputs):
            raise self.refusal("counts")
        try:
            found = carried(node, self.known)
        except Mixes as mixes:
            raise self.refusal(str(mixes)) from None
        if found is not None:
            self.known[node] = found

    def alike(self, node: Node, tensor: Tensor, shape: tuple[int, ...]) -> None:
        """A node that takes its shape from a tensor."""
        if any(axes := self.axes(tensor)) and tuple(tensor.shape) == shape:
            self.known[node] = axes

    def fitted(self, node: Node, value: Tensor, target: Tensor) -> None:
        """A node that holds a value, repeated until it has the shape of the tensor that it is written into."""
        if any(axes := self.axes(target)):
            own = (None,) * (target.dim() - value.dim()) + self.axes(value)
            sizes = (1,) * (target.dim() - value.dim()) + tuple(value.shape)
            found = tuple(axis if n == 1 else mine for axis, mine, n in zip(axes, own, sizes, strict=True))
            self.known[node] = found

    # ------------------------------------------------------------------------------------------------- one operator

    def answer(self, operation: Any, given: dict[str, Any]) -> Any:
        """What the program gets of an operator that has to do with chosen rows; NotImplemented of any other."""
        if self.trusted:
            return NotImplemented
        name = operation._opname.rstrip("_")
        try:
            found = self.chosen(name, operation, given)
            if found is NotImplemented and self.known:
                found = self.ended(name, operation, given)
        except Mixes as mixes:
            raise self.refusal(str(mixes)) from None
        return found

    def ended(self, name: str, operation: Any, given: dict[str, Any]) -> Any:
        tensors = list(tensors_of(given))
        if not any(any(self.axes(x)) for x in tensors) or operation.namespace != "aten":
            return NotImplemented
        if name == "add" and len(tensors) == 2:
            nodes = self.node(tensors[0]), self.node(tensors[1])
            if not self.taken.keys().isdisjoint(nodes):
                self.summands[nodes] = tensors[0], tensors[1]
        if name == "unbind" and self.iterates:
            return self.one_by_one(operation, given)
        ending = ENDINGS.get(name)
        if ending is None:
            return NotImplemented
        with self.recorder:
            return ending(self, operation, given)

    def chosen(self, name: str, operation: Any, given: dict[str, Any]) -> Any:
        """The answer to what asks for the true positions of a mask, or whether there are any."""
        if name in ASKS:
            node = self.node(given["self"])
            says = tells(node) if node in self.tape.open else None
            if not isinstance(says, bool):
                return NotImplemented
            self.sites[node] = Site(self.recorder.here(), says)
            return says
        masks = self.masks(name, operation, given)
        if not masks:
            return NotImplemented
        with self.recorder:
            if name in ("nonzero", "argwhere"):
                return self.mark(torch.stack(self.coordinates(self.selection(masks[0])), 1), None, masks[0])
            if name in ("nonzero_numpy", "where"):
                return self.coordinates(self.selection(masks[0]))
            if name == "masked_select":
                x, mask = torch.broadcast_tensors(given["self"], given["mask"])  # type: ignore[no-untyped-call]
                return ENDINGS["index"](self, None, {"self": x, "indices": [mask]})
            return ENDINGS["index"](self, operation, given)

    def masks(self, name: str, operation: Any, given: dict[str, Any]) -> list[Tensor]:
        """The masks whose positions an operator asks for, if they depend on data."""
        if operation.namespace != "aten":
            return []
        if name in ("nonzero", "argwhere", "nonzero_numpy"):
            found = [given["self"]]
        elif name == "where" and str(operation) == "aten.where.default":
            found = [given["condition"]]
        elif name == "masked_select":
            found = [given["mask"]]
        elif name == "index":
            found = [i for i in given["indices"] if i is not None and i.dtype in (torch.bool, torch.uint8)]
        else:
            found = []
        return [mask for mask in found if self.is_open(mask)]

    def one_by_one(self, operation: Any, given: dict[str, Any]) -> Any:
        """Chosen rows one after the other: all of them are gone through, each an ordinary tensor."""
        x = given["self"]
        if self.of(x, 0) is None or given.get("dim", 0) != 0:
            return NotImplemented
        self.iterates = False
        with self.trusting(), self.recorder:
            parts = operation(x, 0)
        return [self.mark(part, self.axes(x)[1:]) for part in parts]

    # ------------------------------------------------------------------------------------------------- selections

    def selection(self, mask: Tensor) -> Selection:
        """The selection of a mask; masks made in the same way of the same have one."""
        if any(self.axes(mask)):
            raise Mixes("chooses again among")
        if mask.dim() == 0 or mask.numel() == 0:
            raise Mixes("takes the positions of a mask without dimensions, or without elements, as")
        asked = self.node(mask)
        if mask.dtype != torch.bool:
            mask = mask != 0
        node = self.node(mask)
        key = node if node.is_source else (node.operator, node.args, tuple(node.kwargs.items()))
        if key not in self.selections:
            with self.trusting():
                flat = mask.reshape(-1).clone()
            self.selections[key] = Selection(tuple(mask.shape), flat, node)
            self.sites[asked] = Site(self.recorder.here())
        return self.selections[key]

    def coordinates(self, selection: Selection) -> list[Tensor]:
        """All positions of a mask, one tensor for each of its dimensions."""
        shape, found = selection.shape, []
        with self.trusting():
            for d, n in enumerate(shape):
                place, behind = torch.arange(selection.count, device=selection.mask.device), prod(shape[d + 1 :])
                place = place // behind if behind > 1 else place
                found.append(place % n if d else place)
        return [self.mark(place, (selection,)) for place in found]

    def opened(self, indices: Sequence[Any]) -> list[Any]:
        """Indices with positions in place of masks that depend on data."""
        found: list[Any] = []
        for i in indices:
            is_mask = i is not None and i.dtype in (torch.bool, torch.uint8) and self.is_open(i)
            found += self.coordinates(self.selection(i)) if is_mask else [i]
        return found

    def positions(self, indices: Sequence[Any]) -> list[Tensor] | None:
        """Indices of the first dimensions, one after the other; None where there are others."""
        found = self.opened(indices)
        while found and found[-1] is None:
            found.pop()
        return None if None in [None if i is None else 0 for i in found] else found

    def places(self, positions: Sequence[Tensor]) -> Places | None:
        """Of which mask these are positions, and along which of its dimensions."""
        selection = self.of(positions[0], 0) if positions and positions[0].dim() == 1 else None
        if selection is None:
            return None
        dims: list[int] = []
        for place in positions:
            if place.dim() != 1 or self.of(place, 0) is not selection or self.is_open(place):
                return None
            if self.node(place) in self.numbers:
                return None
            d = next((d for d in range(len(selection.shape)) if d not in dims and is_place(place, selection, d)), None)
            if d is None:
                return None
            dims.append(d)
        return selection, tuple(dims)

    def at_most_one(self, selection: Selection, dims: Sequence[int]) -> bool:
        """Whether no two true positions of a mask differ in this dimension only: it says where one number stands among
        different ones, as those are that `topk` gives."""
        compared = selection.node
        if len(dims) != 1 or compared.operator not in ("aten.eq.Scalar", "aten.eq.Tensor"):
            return False
        row, number = compared.args[0], compared.args[1]
        if isinstance(number, Node) and prod(number.shape) != 1:
            return False
        if not isinstance(row, Node) or row.operator != "getitem" or row.args[1] != 1:
            return False
        order: Node = row.args[0]
        rank = len(row.shape)
        default = order.args[2] if order.operator == "aten.topk.default" and len(order.args) > 2 else -1
        along = order.kwargs.get("dim", default)
        return order.operator == "aten.topk.default" and along % rank == dims[0] == rank - 1 == len(selection.shape) - 1

    # ------------------------------------------------------------------------------------------- rows, by the recorder

    @contextmanager
    def trusting(self) -> Iterator[None]:
        """What is recorded inside gets no axes: who calls knows which it has."""
        before, self.trusted = self.trusted, True
        try:
            yield
        finally:
            self.trusted = before

    def mark(self, tensor: Tensor, axes: Axes | None, mask: Tensor | None = None) -> Tensor:
        """Say which axes a tensor has; without any, rows of a mask come first."""
        node = self.node(tensor)
        if axes is None:
            assert mask is not None
            axes = (self.selection(mask), *(None,) * (tensor.dim() - 1))
        if any(axes):
            self.known[node] = axes
        else:
            self.known.pop(node, None)
        return tensor

    def blank(self, x: Tensor, dims: Sequence[int], fill: float | int | bool) -> Tensor:
        """A tensor that holds `fill` in rows that are not chosen; these dimensions are ordinary ones."""
        axes = self.axes(x)
        kept = tuple(None if d in dims else axis for d, axis in enumerate(axes))
        with self.trusting():
            for d in dims:
                axis = axes[d]
                assert axis is not None
                x = torch.where(broad(axis.mask, x.dim() - d), x, torch.full((), fill, dtype=x.dtype, device=x.device))
        return self.mark(x, kept)

    def zeroed(self, values: Tensor, selection: Selection, rest: Sequence[int]) -> Tensor:
        """Rows of a selection, or what is to stand in each of them, and 0 where none is chosen. `rest` is the shape of
        a row."""
        axes = self.axes(values)
        if any(axes[1:]) or (values.dim() > len(rest) and axes[0] is not selection and values.shape[0] != 1):
            raise Mixes("puts rows that data chose together with others")
        if axes[:1] != (selection,) and any(axes):
            raise Mixes("puts rows that data chose together with others")
        with self.trusting():
            whole = values.expand(selection.count, *rest)
            zero = torch.full((), 0, dtype=whole.dtype, device=whole.device)
            return torch.where(broad(selection.mask, whole.dim()), whole, zero)

    def plainly(self, operation: Any, given: dict[str, Any], places: str) -> Any:
        """An operator on tensors without chosen rows, but for the places to which they are put."""
        if any(any(self.axes(x)) for name, x in given.items() if isinstance(x, Tensor) and name != places):
            raise Mixes("puts rows that data chose together with others")
        with self.trusting():
            return operation(**given)

    def lookup(self, index: Tensor) -> Tensor:
        """Indices that are valid for rows that are not chosen, too."""
        axes = self.axes(index)
        if not any(axes) or not self.is_open(index) or self.node(index) in self.valid:
            return index
        found = self.mark(self.blank(index, [d for d, axis in enumerate(axes) if axis is not None], 0), axes)
        self.valid.add(self.node(found))
        return found

    def own(self, x: Tensor, positions: list[Tensor]) -> Tensor | None:
        """A tensor's own rows at all positions of a mask, in order; None where they are others."""
        found = self.places(positions)
        if found is None:
            return None
        selection, dims = found
        rest = tuple(x.shape[len(dims) :])
        if tuple(x.shape[: len(dims)]) != tuple(selection.shape[d] for d in dims):
            return None
        source = self.node(x)
        with self.trusting():
            order = [dims.index(d) for d in sorted(dims)]
            if order != sorted(order):
                x = x.permute(*order, *range(len(order), x.dim()))
            for d in range(len(selection.shape)):
                x = x if d in dims else x.unsqueeze(d)
            whole = x.expand(*selection.shape, *rest)
        shape = (selection.count, *rest)
        with _disable_current_modes():
            result = whole.reshape(shape).clone()
        node = self.tape.emit("aten.reshape.default", (self.node(whole), shape), {}, type_of(result))
        self.memory.fresh(result, node)
        self.taken[node] = source, found
        return self.mark(result, (selection, *(None,) * len(rest)))

    def at_numbers(self, x: Tensor, indices: list[Any]) -> Tensor | None:
        """One element of each chosen row, where the rows are numbered: `x[arange(n), labels]`."""
        selection = self.of(x, 0) if x.dim() else None
        first = indices[0] if indices else None
        if first is None or selection is None or self.numbers.get(self.node(first)) is not selection:
            return None
        axes = [self.axes(i) for i in indices if i is not None]
        if any(self.axes(x)[1:]) or any(i is None for i in indices) or any(a != (selection,) for a in axes):
            raise Mixes("looks up by number among")
        numbers = [self.lookup(i) for i in indices]
        with self.trusting():
            found = torch.ops.aten.index.Tensor(x, numbers)
        return self.mark(found, (selection, *(None,) * (found.dim() - 1)))

    def summand(self, out: Tensor, values: Tensor, target: Places) -> Tensor | None:
        """What is added to rows of a tensor that are written back to it: `out[token] += y`."""
        made = self.node(values)
        pair = made.args[:2]
        if made.operator != "aten.add.Tensor" or pair not in self.summands or made.kwargs.get("alpha", 1) != 1:
            return None
        a, b = self.summands[pair]
        for node, other in ((pair[0], b), (pair[1], a)):
            if self.taken.get(node) == (self.node(out), target):
                still = self.node(other) in pair and other.dtype == out.dtype
                return other if still else None
        return None


def is_place(place: Tensor, selection: Selection, d: int) -> bool:
    """Whether a tensor holds all positions of a mask along one of its dimensions."""
    behind = prod(selection.shape[d + 1 :])
    with _disable_current_modes():
        return torch.equal(place, (torch.arange(selection.count, device=place.device) // behind) % selection.shape[d])


def tensors_of(given: dict[str, Any]) -> Iterator[Tensor]:
    for value in given.values():
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, torch.Tensor):
                yield part

