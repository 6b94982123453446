"""Kept: the values of a run, as many as there is room for.

Every value of a run may be asked for: candidates are found among all of them. But widened weights alone are twice the
checkpoint, of each side on each draw. So a run has room for so many bytes, and when that is used up it forgets what
takes most of it: weights first, then the widest tensors between the layers. What was forgotten is computed again when
it is asked for, from the nearest values that are left. Small programs forget nothing; of large ones the narrow tensors
stay, so that there is little to compute again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import Value, execute, rerun, tensors_in

ROOM = 1 << 26              # bytes of one run


def run_keeping(graph: Graph, values: Mapping[str, torch.Tensor]) -> Kept:
    """A float64 run, as of `execute`, with what there is room for of its values; the others are computed again."""
    found = Kept(graph, values)
    execute(graph, values, keep=False, seen=found.put)
    return found


class Kept(Mapping[str, Value]):
    """Values by name. Constants of the program, which are computed in their own precision, are not forgotten, nor are
    its outputs."""

    def __init__(self, graph: Graph, sources: Mapping[str, torch.Tensor]) -> None:
        self.graph, self.sources = graph, sources
        self._roots = frozenset(root for _, root in graph.roots)
        self._held: dict[str, Value] = {}
        self._forgotten: set[str] = set()
        self._lying: dict[int, list[str]] = {}                 # whose elements lie in a storage, by its address
        self._largest: list[tuple[int, int, int]] = []         # storages: less their bytes, when they came, address
        self._used = self._come = 0

    def put(self, node: Node, value: Value, constant: bool = False) -> None:
        """Keep it while there is room."""
        self._held[node.name] = value
        self._forgotten.discard(node.name)
        if constant or node in self._roots:
            return
        for storage in (tensor.untyped_storage() for tensor in tensors_in(value)):
            place, size = storage.data_ptr(), storage.nbytes()
            if place not in self._lying:
                self._come += 1
                heappush(self._largest, (-size, self._come, place))
                self._used += size
            self._lying.setdefault(place, []).append(node.name)
        while self._used > ROOM:
            size, _, place = heappop(self._largest)
            self._used += size
            for gone in self._lying.pop(place):
                self._held.pop(gone, None)
                self._forgotten.add(gone)

    def __getitem__(self, name: str) -> Value:
        if name in self._forgotten:
            for node, value in self._again(self.graph[name]).items():
                self.put(node, value)
                if node.name == name:
                    return value
        return self._held[name]

    def _again(self, wanted: Node) -> dict[Node, Value]:
        """A forgotten value, the last, after those that it takes."""
        needed, stack = set[Node](), [wanted]
        while stack:
            node = stack.pop()
            if node.name in self._forgotten and node not in needed:
                needed.add(node)
                stack.extend(node.inputs)
        nodes = [node for node in self.graph.nodes if node in needed]
        made = rerun(self.graph, self.sources, self._held, nodes)
        return {node: made[node.name] for node in nodes}

    def __contains__(self, name: object) -> bool:
        return name in self._held or name in self._forgotten

    def __iter__(self) -> Iterator[str]:
        yield from [*self._held, *self._forgotten]

    def __len__(self) -> int:
        return len(self._held) + len(self._forgotten)


class Over(Mapping[str, Any]):
    """Some values in the place of others, or beside them."""

    def __init__(self, some: Mapping[str, Any], others: Mapping[str, Any]) -> None:
        self._some, self._others = some, others

    def __getitem__(self, name: str) -> Any:
        return self._some[name] if name in self._some else self._others[name]

    def __contains__(self, name: object) -> bool:
        return name in self._some or name in self._others

    def __iter__(self) -> Iterator[str]:
        yield from self._some
        yield from (name for name in self._others if name not in self._some)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Part(Mapping[str, Any]):
    """Some of the values of a run: those of these names."""

    def __init__(self, run: Mapping[str, Any], names: Collection[str]) -> None:
        self._run, self._names = run, frozenset(names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._run[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        yield from self._names

    def __len__(self) -> int:
        return len(self._names)
