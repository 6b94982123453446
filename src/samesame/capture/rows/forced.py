"""The way that was not recorded: the program and its graph, run with less chosen.

A program that asks whether rows were chosen was recorded where some are, and may do something else where none are; a
loop over what occurs skips what does not. The graph is right only if that comes to the same as rows that are masked. So
both run again with masks of which less is true: in the program, the operators that made the masks give other results,
and in the graph the same nodes do. What they give instead is found by the values alone, so both find the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from samesame.capture.again import Ways, agree, nearby, put, same
from samesame.capture.eager import Watching
from samesame.capture.higher import definition
from samesame.capture.program import Program
from samesame.capture.rows.sites import Site, makers
from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Node
from samesame.operators.execute import execute, undefined_
from samesame.operators.table import UNINITIALISED

ROUNDS = 16
LEAST = 4
MILD = 4                                                   # one round in so many leaves something of each row
SHARE = 0.6                                                # of what was true stays so
LEFT = 0.5                                                 # of the masks keep anything at all

Place = tuple[str, str, int]


def fewer(value: torch.Tensor, seed: int) -> torch.Tensor:
    """A tensor of truths, or of zeros and ones, of which less is true: nothing at all, nothing in some rows or columns,
    or less here and there. The same for the same values."""
    exact = value.detach().to("cpu", torch.uint8).flatten()
    content = bytes(exact.tolist()) + repr(tuple(value.shape)).encode()
    dice = torch.Generator().manual_seed(zlib.crc32(content, seed))
    kept = torch.rand(value.shape, generator=dice) < SHARE
    if seed % MILD == 0:
        true = value.to("cpu") != 0
        kept |= ~(kept & true).any(-1, keepdim=True) if value.dim() else True
        return where_kept(kept, value)
    for d, n in enumerate(value.shape):
        lines = torch.rand(n, generator=dice) < (SHARE if value.dim() > 1 else 1.0)
        kept &= lines.reshape([n if e == d else 1 for e in range(value.dim())])
    nothing = float(torch.rand((), generator=dice)) > LEFT
    return where_kept(torch.zeros_like(kept) if nothing else kept, value)


def where_kept(kept: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.where(kept.to(value.device), value, torch.zeros((), dtype=value.dtype, device=value.device))


def place(node: Node) -> Place:
    return node.operator, node.origin.file, node.origin.line


class Forcing(Watching):
    """Runs the program as it is, but for the results of what makes its masks."""

    def __init__(self, program: Program, places: frozenset[Place], seed: int, opened: Callable[[Any], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.program, self.places, self.seed, self.opened = program, places, seed, opened
        self.names = {operator for operator, _, _ in places}

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inside = definition(operation) or (operation.decompose if self.opened(operation) else None)
        if inside is not None:
            with self:
                return inside(*args, **(kwargs or {}))
        result = operation(*args, **(kwargs or {}))
        if operation._schema.name.replace("::", ".") in UNINITIALISED:
            return undefined_(result)
        if str(operation) not in self.names:
            return result
        here = self.program.here("")
        if (str(operation), here.file, here.line) not in self.places:
            return result
        return tree_map_only(torch.Tensor, lambda x: fewer(x, self.seed), result)


def demand_nothing_else(
    program: Program, graph: Graph, sites: Mapping[Node, Site], ways: Ways, opened: Callable[[Any], bool]
) -> None:
    """Raise Refused where the program, with less chosen, does not compute what its graph does."""
    made = list(makers(sites))
    inputs = dict(zip(graph.sources("input"), program.inputs.values(), strict=True))
    forced = {inputs[node] for node in made if node in inputs}
    places = frozenset(place(node) for node in made if not node.is_source)
    waiting = {node: sites[node] for node in graph.nodes if node in sites}     # with nothing chosen, that is
    ran = failed = False
    for seed in range(ROUNDS):
        move = nearby if seed % 2 else same
        changes = {x: fewer(x, seed) if x in forced else move(x) for x in program.inputs.values()}
        with put(changes, ways.written, {}) as begin:
            begin()
            try:
                with Forcing(program, places, seed, opened):
                    found = ways.run(False)
            except SamesameError:
                raise
            except Exception:                              # it cannot do without what is left out here
                failed = True
                continue
            begin()
            values = graph.tensors | {node.name: changes[x].cpu() for node, x in inputs.items()}
            values |= {name: tensor.detach().cpu() for name, tensor in ways.weights.items()}
            for node in inputs.keys() & waiting.keys():
                if not bool(values[node.name].any()):
                    del waiting[node]
            if not computed(graph, values, found, places, seed, waiting):
                raise refused(sites, LESS)
        ran = True
        if seed + 1 >= LEAST and not waiting:
            return
    if not ran or (waiting and not failed):
        raise refused(waiting, "what the program does where fewer are chosen cannot be tried")


def computed(
    graph: Graph, values: Mapping[str, torch.Tensor], outputs: list[tuple[str, torch.Tensor]],
    places: frozenset[Place], seed: int, waiting: dict[Node, Site],
) -> bool:
    """Whether the graph gives these outputs where the nodes at these places give less; `waiting` is rid of what was
    seen."""

    def changed(node: Node, value: Any) -> Any:
        now = tree_map_only(torch.Tensor, lambda x: fewer(x, seed), value) if place(node) in places else value
        if node in waiting and not bool(now.any() if waiting[node].says else ~now.all()):
            del waiting[node]
        return now

    try:
        found = execute(graph, values, precision="own", keep=False, changed=changed)
    except Refused:
        return False
    if [name for name, _ in graph.roots] != [name for name, _ in outputs]:
        return False
    return all(agree(found[node.name], x.cpu()) for (_, node), (_, x) in zip(graph.roots, outputs, strict=True))


LESS = "where fewer are chosen the program does something else than leave them out"


def likely(sites: Mapping[Node, Site], unseen: str) -> str:
    """Why a program does something else than its graph: a graph is recorded as if something were chosen wherever data
    may choose, and so the first such place is likelier than what is `unseen`."""
    return told(sites, LESS) if sites else unseen


def refused(sites: Mapping[Node, Site], why: str) -> Refused:
    return Refused(told(sites, why))


def told(sites: Mapping[Node, Site], why: str) -> str:
    place = next(iter(sites.values())).origin.spoken
    return (f"{place} chooses rows by data, or asks whether there are any, and {why}, so the graph depends on data; "
            "compute all rows, and choose by torch.where")
