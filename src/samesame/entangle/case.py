"""Cases: captured graphs with what is stated of their inputs and outputs.

A case file (JSON, `refinement-case/1`) names the graph of the sequential program, one for each rank, and states how
sequential tensors are put together from ranks' tensors. Here these statements are turned round (stated.py): each input
of a rank becomes a layout over sequential inputs, and what contradicts itself is refused. Statements about tensors that
are no inputs are hints; they are read, and not used.

The graphs have large fixed sizes. A case gives them as they were captured, over size symbols, and with small sizes and
values to run them; the relation comes along.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from samesame.entangle.graphs import Asked, Captured, load
from samesame.entangle.roles import Made
from samesame.entangle.shrink import Members, Shaped, members
from samesame.entangle.stated import Expression, Placed, Stated, layout_of, leaves
from samesame.evidence import Refused
from samesame.formula.sizes import replaced
from samesame.graph import Graph, Node, TensorType
from samesame.relate.layout import Layout, values

FORMAT = "refinement-case/1"
UNSTATED = "by name and shape"


@dataclass(frozen=True, slots=True)
class Sides:
    """The graphs of a case in one form. `layouts` gives each input of a rank, as the world names it (`r0.x`), as a
    layout over sequential inputs; `expected` each checked output of a rank as a layout over sequential outputs. Roots
    are named alike: those of ranks are called after the sequential root that they are a part of."""

    sequential: Graph
    ranks: tuple[Graph, ...]
    layouts: dict[str, Layout]
    expected: dict[str, Layout]


@dataclass(frozen=True)
class Case:
    """A case, read and checked. `hints` are statements that are not used; `guessed` are tensors that are related by
    name and shape only."""

    name: str
    graphs: tuple[Graph, ...]                              # the sequential program's, then each rank's
    inputs: tuple[Placed, ...]
    outputs: tuple[Placed, ...]
    sizes: Members
    assumptions: tuple[str, ...]
    hints: tuple[str, ...]
    guessed: tuple[str, ...]

    @property
    def as_captured(self) -> Sides:
        """The graphs with their own sizes, without values."""
        return self._sides(self.graphs, self.sizes.shaped.roles.value)

    @property
    def over_symbols(self) -> Sides:
        """The graphs over size symbols; `sizes.captured` has the values at which they are the captured ones."""
        return self._sides(self.sizes.over_symbols, self.sizes.symbolic)

    def with_numbers(self, fixed: Mapping[str, int]) -> Sides:
        """The graphs over size symbols, with these numbers for some of them, by name."""

        def size(made: Made) -> Any:
            return replaced(self.sizes.symbolic(made), fixed)

        return self._sides(self.sizes.shaped.written(size), size)

    def shrunk(self, seed: int = 0) -> Sides:
        """The graphs with small sizes, and values for their inputs: the same seed, the same values."""
        sides = self._sides(self.sizes.shrunk, self.sizes.number)
        drawn = dict(self._drawn(sides.sequential, seed))
        ranks = tuple(
            replace(graph, tensors={
                node.name: values(sides.layouts[f"r{k}.{node.name}"], drawn.__getitem__).contiguous()
                for node in graph.sources("input")
            })
            for k, graph in enumerate(sides.ranks)
        )
        return replace(sides, sequential=replace(sides.sequential, tensors=drawn), ranks=ranks)

    def _sides(self, graphs: tuple[Graph, ...], size: Callable[[Made], Any]) -> Sides:
        left, *ranks = graphs
        inputs, outputs = (
            {f"r{p.rank}.{p.tensor.name}": layout_of(p, self.sizes.shaped, size) for p in placed}
            for placed in (self.inputs, self.outputs)
        )
        return Sides(left, tuple(ranks), inputs, outputs)

    def _drawn(self, graph: Graph, seed: int) -> Iterator[tuple[str, torch.Tensor]]:
        """Integers point into their tables; where a real number is made an integer, what it is made of is positive, as
        counts are."""
        generator = torch.Generator().manual_seed(seed)
        counts, bounds = _counts(self.graphs[0]), self.sizes.shaped.bounds
        for node, own in zip(graph.sources("input"), self.graphs[0].sources("input"), strict=True):
            dtype = dtype_of(own)
            if dtype == torch.bool:
                yield node.name, torch.rand(node.shape, generator=generator) < 0.3
            elif not dtype.is_floating_point:
                some = min((n for n in node.shape if n > 1), default=2)
                high = self.sizes.number(bounds[own]) if own in bounds else some
                yield node.name, torch.randint(0, high, node.shape, generator=generator, dtype=dtype)
            else:
                drawn = torch.randn(node.shape, generator=generator)
                yield node.name, (drawn.abs() + 0.5 if own in counts else drawn).to(dtype)


def dtype_of(node: Node) -> torch.dtype:
    assert isinstance(node.type, TensorType)
    found: torch.dtype = getattr(torch, node.type.dtype)
    return found


def _counts(graph: Graph) -> set[Node]:
    """Inputs from which a real number is computed that is then made an integer."""
    wanted: set[Node] = set()
    for node in reversed(graph.nodes):
        cast = node.operator == "aten._to_copy.default" and not dtype_of(node).is_floating_point
        if node in wanted or (cast and dtype_of(node.inputs[0]).is_floating_point):
            wanted.update(node.inputs)
    return {node for node in wanted if node.is_source}


# ---------------------------------------------------------------------------------------------------------- case files


def load_case(path: str | Path, *, outputs: str = "expected") -> Case:
    """The case in a file. `outputs` says which outputs are checked: those that the file expects something of, or "all".

    Graph files are named relative to the case file. `"unstated": "by name and shape"` in the file relates inputs of
    which nothing is stated to sequential ones of the same name: replicated where shapes agree, else cut along the one
    dimension in which they differ. Without it, such inputs are refused if an output depends on them. Raises Refused for
    files that are missing or damaged, for unknown tensors, and for statements that do not hold together.
    """
    return _Reading(Path(path), outputs).case()


class _Reading:
    """One case file, as it is read."""

    def __init__(self, path: Path, outputs: str) -> None:
        if outputs not in ("expected", "all"):
            raise Refused(f"outputs is {outputs!r}; give 'expected' or 'all'")
        self.path, self.all = path, outputs == "all"
        self.file = _json(path)
        self.files = [self._file("seq", self.file.get("seq")), *(self._file("dist", f) for f in self._list("dist"))]
        if len(self.files) == 1 or self.file.get("world_size", len(self.files) - 1) != len(self.files) - 1:
            raise Refused(f"{path} names {len(self.files) - 1} graphs of ranks in `dist`; it needs one for each rank")
        self.equalities = [self._equality(row) for row in self._list("expected_equal")]
        self.all = self.all or not self.equalities
        self.captured = self._captured()

    def case(self) -> Case:
        pairs = self._pairs()
        graphs = tuple(self._pruned(k, [row[k] for row in pairs]) for k in range(len(self.files)))
        stated = Stated(Shaped(graphs), [rank.aliases for rank in self.captured], str(self.path))
        hints = []
        for entry in self._list("relation"):
            if not self._used(entry, stated):
                hints.append(str(entry.get("seq", "a relation without a sequential tensor")))
        guessed = self._unstated(stated, graphs)
        inputs = stated.inputs()
        stated.sizes.spread()
        return Case(
            str(self.file.get("case", self.path.stem)),
            graphs,
            inputs,
            self._outputs(stated, pairs),
            members(stated.sizes),
            tuple(dict.fromkeys(sentence for rank in self.captured for sentence in rank.assumptions)),
            tuple(hints),
            tuple(guessed),
        )

    # ----------------------------------------------------------------------------------------------------- the graphs

    def _file(self, key: str, name: Any) -> Path:
        if not isinstance(name, str):
            raise Refused(f"{self.path}: `{key}` names no graph file")
        return next((p for base in (self.path.parent, self.path.parent.parent) if (p := base / name).exists()),
                    self.path.parent / name)

    def _list(self, key: str) -> list[Any]:
        found = self.file.get(key, [])
        if not isinstance(found, list):
            raise Refused(f"{self.path}: `{key}` is no list")
        return found

    def _captured(self) -> list[Captured]:
        constant = self.file.get("const_tensor_value")
        if constant is not None and not isinstance(constant, int | float):
            raise Refused(f"{self.path}: `const_tensor_value` is no number")
        cuts: list[set[str]] = [set() for _ in self.files]
        for text in self._list("force_leaf"):
            side, _, name = str(text).partition(":")
            cuts[self._side(side.replace("S0", "S"))].add(name)
        kept: list[list[str]] = [[] for _ in self.files]
        for whole, parts in self.equalities:
            for leaf in (whole, *(leaf for part in parts for leaf in leaves(part))):
                kept[self._side(leaf.side)].append(leaf.name)
        asked = [
            Asked(file, "sequential" if not k else f"rank {k - 1}", frozenset(cuts[k]), tuple(dict.fromkeys(kept[k])))
            for k, file in enumerate(self.files)
        ]
        return [*load(asked[:1], constant=constant), *load(asked[1:], constant=constant)]

    def _side(self, text: str) -> int:
        """0 for the sequential program, 1 + rank for a rank."""
        number = 0 if text == "S" else int(text[1:]) + 1 if text[:1] == "D" and text[1:].isdigit() else -1
        if not 0 <= number < len(self.files):
            raise Refused(f"{self.path} speaks of {text!r}, and there are S and D0 to D{len(self.files) - 2}")
        return number

    def _pruned(self, k: int, names: Sequence[str]) -> Graph:
        """The graph of one side with these tensors as roots, named after the sequential ones."""
        graph, aliases = self.captured[k].graph, self.captured[k].aliases
        told = [pair[0] for pair in self._pairs()]
        roots = tuple((root, graph[aliases[name]]) for root, name in zip(told, names, strict=True))
        needed = {root for _, root in roots}
        stated = self._stated_names(k)
        for node in reversed(graph.nodes):
            if node in needed or (node.operator == "input" and node.name in stated):
                needed.add(node)
                needed.update(node.inputs)
        return Graph(graph.name, tuple(node for node in graph.nodes if node in needed), roots)

    def _stated_names(self, k: int) -> set[str]:
        """Nodes of one side that the relation speaks of."""
        side, aliases = "S" if not k else f"D{k - 1}", self.captured[k].aliases
        found = {e["id"] for e in _walk(self._list("relation")) if e.get("t") == side and isinstance(e.get("id"), str)}
        if not k:
            found |= {e["seq"] for e in self._list("relation") if isinstance(e, dict) and isinstance(e.get("seq"), str)}
        return {aliases[name] for name in found if name in aliases}

    # -------------------------------------------------------------------------------------------------------- outputs

    def _equality(self, row: Any) -> tuple[Any, list[Expression]]:
        """A sequential tensor, and what it is expected to be in terms of ranks' tensors."""
        if not isinstance(row, list):
            raise Refused(f"{self.path}: an entry of `expected_equal` is no list of tensors")
        made = [Expression.read(part, str(self.path)) for part in row]
        wholes = [e for e in made if e.is_leaf and e.side == "S"]
        if len(wholes) != 1 or len(made) < 2:
            raise Refused(f"{self.path}: an entry of `expected_equal` needs one sequential tensor and its counterparts")
        return wholes[0], [e for e in made if e is not wholes[0]]

    def _pairs(self) -> list[tuple[str, ...]]:
        """For each checked output its name on each side, the sequential one first."""
        if not self.all:
            rows: dict[str, list[str]] = {}
            for whole, parts in self.equalities:
                row = rows.setdefault(whole.name, [whole.name, *[""] * (len(self.files) - 1)])
                for leaf in (leaf for part in parts for leaf in leaves(part)):
                    row[self._side(leaf.side)] = leaf.name
            if lacking := [name for name, row in rows.items() if "" in row]:
                raise Refused(f"{self.path} expects something of {lacking[0]} on some ranks only; state it for each")
            return [tuple(row) for row in rows.values()]
        names = [[name for name, _ in rank.graph.roots] for rank in self.captured]
        if len({len(row) for row in names}) != 1:
            counts = ", ".join(str(len(row)) for row in names)
            raise Refused(f"{self.path}: the graphs return {counts} tensors; pair them in `expected_equal`")
        return list(zip(*names, strict=True))

    def _outputs(self, stated: Stated, pairs: Sequence[tuple[str, ...]]) -> tuple[Placed, ...]:
        for whole, parts in self.equalities:
            for part in parts:
                stated.state(whole.name, part, where="expected")
        if self.all:
            told = {whole.name for whole, _ in self.equalities}
            for whole_name, *names in pairs:
                if whole_name not in told and not stated.by_shape(whole_name, names):
                    raise Refused(
                        f"{self.path}: {whole_name} and its counterparts on the ranks have shapes that do not fit; say "
                        "in `expected_equal` what is expected"
                    )
        return stated.outputs()

    # --------------------------------------------------------------------------------------------------------- inputs

    def _used(self, entry: Any, stated: Stated) -> bool:
        """State what an entry of the relation says; whether it is about inputs."""
        if not isinstance(entry, dict):
            raise Refused(f"{self.path}: an entry of `relation` is no object")
        name = entry.get("seq")
        if name is None:
            return False
        if name not in self.captured[0].names:
            raise Refused(f"{self.path} states a relation of {name}, and the sequential graph has no such tensor")
        made = [Expression.read(part, str(self.path)) for part in entry.get("alternatives", [])]
        for leaf in (leaf for e in made for leaf in leaves(e)):
            if leaf.name not in self.captured[self._side(leaf.side)].names:
                raise Refused(f"{self.path} relates {name} to {leaf.name}, which the graph of {leaf.side} has not")
        if not stated.is_input(0, name):
            return False
        for e in made:
            stated.state(name, e)
        for group in entry.get("dist_equal", []):
            stated.equal([Expression.read(part, str(self.path)) for part in group])
        return bool(made)

    def _unstated(self, stated: Stated, graphs: Sequence[Graph]) -> list[str]:
        """Relate by name what nothing is stated of; refuse what may not be."""
        uncaptured = {name for rank in self.captured for name in rank.uncaptured}
        allowed = self.file.get("unstated") == UNSTATED
        guessed, refused = [], []
        for name, ranks in stated.missing():
            if (allowed or name in uncaptured) and stated.by_shape(name, [name] * (len(graphs) - 1)):
                guessed.append(name)
            else:
                refused += [f"{name} of rank {rank}" for rank in ranks]
        if refused:
            raise Refused(
                f"{self.path} states no relation of {', '.join(refused)}, and outputs depend on "
                f"{'them' if len(refused) > 1 else 'it'}; state it in `relation`, or set \"unstated\": \"{UNSTATED}\""
            )
        return guessed


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refused(f"{path} does not exist") from None
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise Refused(f"{path} is no JSON: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Refused(f'{path} is no case file; it begins with "format": "{FORMAT}"')
    return found


def _walk(thing: Any) -> Iterator[dict[str, Any]]:
    """Every object in nested JSON."""
    if isinstance(thing, dict):
        yield thing
        thing = list(thing.values())
    if isinstance(thing, list):
        for part in thing:
            yield from _walk(part)
