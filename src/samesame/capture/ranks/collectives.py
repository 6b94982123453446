"""Collectives in normal form: what torch spells in fifty ways, in ten words.

torch has each collective several times over: in place (`c10d.allreduce_`, what `dist.all_reduce` calls), functional
(`_c10d_functional.all_reduce`, what DTensor calls), with lists of tensors, with one tensor for all, coalesced. SPELLED
says of each what it is. The words, each an operator of a rank's graph:

    collective.all_reduce      (x)  op, group                      the same shape on every rank
    collective.all_gather      (x)  dim, sizes, group              concatenated along dim; a size for each rank
    collective.reduce_scatter  (x)  op, dim, sizes, group          reduced, then cut along dim; a size for each rank
    collective.all_to_all      (x)  split_dim, input_splits, cat_dim, output_splits, group
    collective.broadcast       (x)  src, group
    collective.reduce          (x)  op, dst, group                 all but dst keep what they had
    collective.gather          (x)  dim, sizes, dst, group         a result on dst only
    collective.scatter         (x)  dim, sizes, src, group         x on src only
    collective.permute         (x)  pairs, group                   from each first rank to its second; zeros elsewhere
    collective.send            (x)  peer, tag
    collective.recv            ()   peer, tag
    collective.barrier         ()   group
    collective.wait            (x)                                 x is a collective that was only begun before

`group` holds the global ranks in the group's order; `src`, `dst`, `peer` and `pairs` are global ranks. `op` is one of
sum, avg, product, max, min. Several groups of the same ranks are told apart by `communicator`, their number. A rank
stays at a collective until it is done, a send included, unless `waits=False` says that it only begins it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives  # registers the functional operators
from torch._ops import OpOverload
from torch.distributed.distributed_c10d import _world

from samesame.evidence import Refused
from samesame.graph import COLLECTIVE

NAMESPACES = frozenset(("c10d", "_c10d_functional", "c10d_functional", "_c10d_functional_autograd"))
REDUCTIONS = ("sum", "avg", "product", "max", "min")

# The same tensor, once it has arrived; and checks without a result.
ARRIVED = frozenset(("wait_tensor", "_wrap_tensor_autograd"))
IGNORED = frozenset(("check_for_nan",))


def is_collective(operator: str) -> bool:
    """Whether an operator of a graph is one of the words above."""
    return operator.startswith(COLLECTIVE)


Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Collective:
    """One word, as one rank says it: the tensors it gives and those that take the result.

    Several tensors are pieces along dimension 0. Together those given have the shape `gives`, and those taken the shape
    `takes`; None where this rank gives or takes nothing.
    """

    operator: str
    attributes: dict[str, Any]
    given: tuple[torch.Tensor, ...]
    gives: Shape | None
    taken: tuple[torch.Tensor, ...] = ()
    takes: Shape | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of torch's collectives: its arguments by name, its results, the group, and who calls."""

    operation: OpOverload
    given: dict[str, Any]
    results: tuple[torch.Tensor, ...]
    group: tuple[int, ...]
    rank: int

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    @property
    def me(self) -> int:
        """This rank's place in the group."""
        return self.group.index(self.rank)

    @property
    def op(self) -> str:
        """How values are combined. Raises Refused for what has no meaning in real numbers (bitwise operations)."""
        named = next(self.given[name] for name in ("reduce_op", "reduceOp") if name in self.given)
        if isinstance(named, torch.ScriptObject):
            named = dist.ReduceOp.RedOpType(named.op()).name                            # type: ignore[attr-defined]
        name = str(named).lower()
        if name not in REDUCTIONS:
            raise Refused(f"reduces by {name}, which is not supported; use one of {', '.join(REDUCTIONS)}")
        return name


Form = Callable[[Call], Iterator[Collective]]


def spelled(call: Call) -> Iterator[Collective]:
    """A call in normal form. Raises Refused, with the end of a sentence, for one that is not supported."""
    form = SPELLED.get(call.operation._opname)
    if form is None:
        raise Refused(f"calls the collective {call.operation}, which is not supported")
    return form(call)


def group_of(given: dict[str, Any]) -> tuple[int, ...]:
    """The global ranks of a call's group, in its order."""
    if "ranks" in given:
        return tuple(given["ranks"])
    found = given.get("process_group", given.get("group_name"))
    if isinstance(found, str):
        found = torch._C._distributed_c10d._resolve_process_group(found)                     # type: ignore[arg-type]
    if isinstance(found, torch.ScriptObject):
        found = dist.ProcessGroup.unbox(found)
    return tuple(dist.get_process_group_ranks(found))


def communicator_of(given: dict[str, Any], group: tuple[int, ...]) -> int:
    """Which of the groups of these ranks a call is over: they have a number each, in the order in which they were made.
    Those who make groups make them on all ranks in one order."""
    found = given.get("process_group", given.get("group_name"))
    if isinstance(found, torch.ScriptObject):
        found = dist.ProcessGroup.unbox(found)
    name = str(found) if isinstance(found, str) else str(found.group_name) if found is not None else ""
    made = [own for own in _world.pg_names if own.size() == len(group)]
    alike = [str(own.group_name) for own in made if tuple(dist.get_process_group_ranks(own)) == group]
    return alike.index(name) if name in alike else 0


# ---------------------------------------------------------------------------------------------------------- the forms


def alike(operator: str, x: torch.Tensor, out: torch.Tensor | None, **attributes: Any) -> Collective:
    """A collective whose result has the shape of what each rank gives."""
    taken, shape = ((), None) if out is None else ((out,), tuple(x.shape))
    return Collective(operator, attributes, (x,), tuple(x.shape), taken, shape)


def all_reduce(x: torch.Tensor, out: torch.Tensor, call: Call) -> Collective:
    return alike("collective.all_reduce", x, out, op=call.op, group=call.group)


def broadcast(x: torch.Tensor, out: torch.Tensor, src: int, call: Call) -> Collective:
    return alike("collective.broadcast", x, out, src=call.group[src], group=call.group)


def all_gather(x: torch.Tensor, outs: Sequence[torch.Tensor], call: Call) -> Collective:
    """`outs` is one tensor for all parts, which then are of one size, or a tensor for each part."""
    rows, *tail = piece(x)
    sizes = rows_of(outs, tail) if len(outs) == len(call.group) > 1 else (rows,) * len(call.group)
    attributes = {"dim": 0, "sizes": sizes, "group": call.group}
    return Collective("collective.all_gather", attributes, (x,), (rows, *tail), tuple(outs), (sum(sizes), *tail))


def reduce_scatter(xs: Sequence[torch.Tensor], out: torch.Tensor, call: Call) -> Collective:
    """`xs` is one tensor with a part for each rank, of one size, or a tensor for each rank."""
    rows, *tail = piece(out)
    sizes = rows_of(xs, tail) if len(xs) == len(call.group) > 1 else (rows,) * len(call.group)
    attributes = {"op": call.op, "dim": 0, "sizes": sizes, "group": call.group}
    return Collective(
        "collective.reduce_scatter", attributes, tuple(xs), (sum(sizes), *tail), (out,), (rows, *tail)
    )


def all_to_all(
    xs: Sequence[torch.Tensor], outs: Sequence[torch.Tensor], ins: Shape, takes: Shape, call: Call
) -> Collective:
    splits = {"split_dim": 0, "input_splits": ins, "cat_dim": 0, "output_splits": takes, "group": call.group}
    gives, gets = (sum(ins), *piece(xs[0])[1:]), (sum(takes), *piece(outs[0])[1:])
    return Collective("collective.all_to_all", splits, tuple(xs), gives, tuple(outs), gets)


def piece(x: torch.Tensor) -> Shape:
    """The shape of a tensor as a piece along dimension 0: a number is a row of its own."""
    return tuple(x.shape) or (1,)


def rows_of(xs: Sequence[torch.Tensor], tail: Sequence[int]) -> Shape:
    """How many rows each piece has, all of whose other sizes are `tail`."""
    if any(list(piece(x)[1:]) != list(tail) for x in xs):
        raise Refused("exchanges tensors that differ beyond their first dimension; flatten them first")
    return tuple(piece(x)[0] for x in xs)


def splits_of(sizes: Sequence[int] | None, x: torch.Tensor, parts: int) -> Shape:
    """Split sizes along dimension 0; none given means parts of one size."""
    return tuple(map(int, sizes)) if sizes else (x.shape[0] // parts,) * parts


def _reduce(call: Call) -> Iterator[Collective]:
    dst = call.group[call["root_rank"]]
    for x in call["tensors"]:
        out = x if dst == call.rank else None
        yield alike("collective.reduce", x, out, op=call.op, dst=dst, group=call.group)


def _gather(call: Call) -> Iterator[Collective]:
    dst = call.group[call["root_rank"]]
    for k, x in enumerate(call["input_tensors"]):
        (rows, *tail), here = piece(x), dst == call.rank
        outs = tuple(call["output_tensors"][k]) if here else ()
        sizes = rows_of(outs, tail) if here else (rows,) * len(call.group)
        attributes = {"dim": 0, "sizes": sizes, "dst": dst, "group": call.group}
        yield Collective(
            "collective.gather", attributes, (x,), (rows, *tail), outs, (sum(sizes), *tail) if here else None
        )


def _scatter(call: Call) -> Iterator[Collective]:
    src = call.group[call["root_rank"]]
    for k, out in enumerate(call["output_tensors"]):
        (rows, *tail), here = piece(out), src == call.rank
        xs = tuple(call["input_tensors"][k]) if here else ()
        sizes = rows_of(xs, tail) if here else (rows,) * len(call.group)
        attributes = {"dim": 0, "sizes": sizes, "src": src, "group": call.group}
        gives = (sum(sizes), *tail) if here else None
        yield Collective("collective.scatter", attributes, xs, gives, (out,), (rows, *tail))


def _peer(call: Call, name: str) -> int:
    """Who is at the other end of a message. Raises Refused where that is the rank itself, as only some backends have
    such messages, and those only in a batch."""
    peer: int = call.group[call[name]]
    if peer == call.rank:
        does = "sends a message to itself" if name == "dst" else "receives a message from itself"
        raise Refused(f"{does} (rank {peer}), which is an error on gloo; copy the tensor instead")
    return peer


def _send(call: Call) -> Iterator[Collective]:
    peer = _peer(call, "dst")
    for x in call["tensors"]:
        yield alike("collective.send", x, None, peer=peer, tag=call["tag"])


def _recv(call: Call) -> Iterator[Collective]:
    attributes = {"peer": _peer(call, "src"), "tag": call["tag"]}
    for out in call["tensors"]:
        yield Collective("collective.recv", attributes, (), None, (out,), tuple(out.shape))


def _barrier(call: Call) -> Iterator[Collective]:
    yield Collective("collective.barrier", {"group": call.group}, (), None)


def _any_source(call: Call) -> Iterator[Collective]:
    raise Refused("receives from any rank, so the order of messages decides the result; name the rank to receive from")


def _all_to_all_single(call: Call) -> Iterator[Collective]:
    x, parts = first(call), len(call.group)
    out = call["output"] if "output" in call.given else call.results[0]
    ins, takes = (
        splits_of(call.given.get(name), t, parts) for name, t in (("input_split_sizes", x), ("output_split_sizes", out))
    )
    yield all_to_all((x,), (out,), ins, takes, call)


def _all_to_all_lists(call: Call) -> Iterator[Collective]:
    xs, outs = call["input_tensors"], call["output_tensors"]
    tail = piece(xs[0])[1:]
    yield all_to_all(xs, outs, rows_of(xs, tail), rows_of(outs, tail), call)


# torch's operators by packet. Of one name in several namespaces the arguments mean the same.
SPELLED: dict[str, Form] = {
    # functional
    "all_reduce": lambda c: iter([all_reduce(first(c), c.results[0], c)]),
    "all_reduce_": lambda c: iter([all_reduce(c["input"], c["input"], c)]),
    "all_reduce_coalesced": lambda c: (all_reduce(x, y, c) for x, y in zip(many(c), c.results, strict=True)),
    "all_reduce_coalesced_": lambda c: (all_reduce(x, x, c) for x in c["inputs"]),
    "all_gather_into_tensor": lambda c: iter([all_gather(first(c), c.results, c)]),
    "all_gather_into_tensor_out": lambda c: iter([all_gather(c["input"], (c["out"],), c)]),
    "all_gather_into_tensor_coalesced": lambda c: (
        all_gather(x, (y,), c) for x, y in zip(many(c), c.results, strict=True)
    ),
    "reduce_scatter_tensor": lambda c: iter([reduce_scatter((first(c),), c.results[0], c)]),
    "reduce_scatter_tensor_out": lambda c: iter([reduce_scatter((c["input"],), c["out"], c)]),
    "reduce_scatter_tensor_coalesced": lambda c: (
        reduce_scatter((x,), y, c) for x, y in zip(c["inputs"], c.results, strict=True)
    ),
    "all_to_all_single": _all_to_all_single,
    "broadcast": lambda c: iter([broadcast(first(c), c.results[0], c["src"], c)]),
    # in place
    "broadcast_": lambda c: (
        broadcast(x, x, c["src"] if "src" in c.given else c["root_rank"], c)
        for x in (c["tensors"] if "tensors" in c.given else [c["input"]])
    ),
    "allreduce_": lambda c: (all_reduce(x, x, c) for x in c["tensors"]),
    "allreduce_coalesced_": lambda c: (all_reduce(x, x, c) for x in c["tensors"]),
    "allgather_": lambda c: (
        all_gather(x, outs, c) for x, outs in zip(c["input_tensors"], c["output_tensors"], strict=True)
    ),
    "_allgather_base_": lambda c: iter([all_gather(c["input_tensor"], (c["output_tensor"],), c)]),
    "allgather_coalesced_": lambda c: (
        all_gather(x, [outs[k] for outs in c["output_lists"]], c) for k, x in enumerate(c["input_list"])
    ),
    "allgather_into_tensor_coalesced_": lambda c: (
        all_gather(x, (out,), c) for x, out in zip(c["inputs"], c["outputs"], strict=True)
    ),
    "reduce_scatter_": lambda c: (
        reduce_scatter(xs, out, c) for xs, out in zip(c["input_tensors"], c["output_tensors"], strict=True)
    ),
    "_reduce_scatter_base_": lambda c: iter([reduce_scatter((c["input_tensor"],), c["output_tensor"], c)]),
    "reduce_scatter_tensor_coalesced_": lambda c: (
        reduce_scatter((x,), out, c) for x, out in zip(c["inputs"], c["outputs"], strict=True)
    ),
    "alltoall_": _all_to_all_lists,
    "alltoall_base_": _all_to_all_single,
    "reduce_": _reduce,
    "gather_": _gather,
    "scatter_": _scatter,
    "send": _send,
    "recv_": _recv,
    "recv_any_source_": _any_source,
    "barrier": _barrier,
    "monitored_barrier_": _barrier,
}

# Those of the functional ones that write into an argument, and return it.
RETURNS = {
    "all_reduce_": "input",
    "all_reduce_coalesced_": "inputs",
    "broadcast_": "input",
    "all_gather_into_tensor_out": "out",
    "reduce_scatter_tensor_out": "out",
}

# Those of the functional ones that copy what they are given before they begin.
COPIED = frozenset(("all_reduce", "all_reduce_coalesced", "broadcast"))


def first(call: Call) -> torch.Tensor:
    """The tensor that a functional collective is given; its name differs between namespaces."""
    found: torch.Tensor = next(call.given[name] for name in ("input", "self", "shard") if name in call.given)
    return found


def many(call: Call) -> Sequence[torch.Tensor]:
    """The same for a list of tensors."""
    found: Sequence[torch.Tensor] = next(call.given[name] for name in ("inputs", "input", "self") if name in call.given)
    return found


def read_by(one: Collective, rank: int) -> tuple[torch.Tensor, ...]:
    """The tensors whose values a rank gives: in a broadcast only the first has one to give."""
    return one.given if one.attributes.get("src", rank) == rank else ()


def demand_contiguous(one: Collective) -> None:
    """Raise Refused where a collective would read or write memory in another order than the tensor's: backends move
    memory as it lies."""
    if not all(x.is_contiguous() or x.is_contiguous(memory_format=torch.channels_last) for x in one.given + one.taken):
        name = one.operator.removeprefix("collective.")
        raise Refused(f"calls {name} on a tensor that is not contiguous; call .contiguous() and use what that returns")
