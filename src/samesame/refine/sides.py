"""Sides: both programs ready to be compared, output by output.

The ranks' graphs have met in one, the world; its inputs and weights are layouts of the sequential ones; and the ranks'
outputs stand under the sequential names, each with where it is due. What values then say of that, `lying` tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from samesame.capture.ranks.graphs import idle_weights, placements
from samesame.capture.ranks.record import AFTER
from samesame.capture.ranks.world import Mismatch, World, lockstep
from samesame.evidence import Refused
from samesame.graph import Graph, Node, TensorType
from samesame.operators.defaults import with_defaults
from samesame.refine.due import GRADIENT, OF_A_WEIGHT, Due, Part, dues, on_a_grid, parts_of
from samesame.refine.job import Job
from samesame.refine.norms import with_open_norms
from samesame.refine.outputs import Found, output_relation
from samesame.refine.padded import without_padding
from samesame.refine.placement import Mesh, held_part, holders, parsed
from samesame.refine.sources import COTANGENT, Source, input_relation
from samesame.refine.vanishing import lying_anyhow, zero_outputs
from samesame.relate.layout import Concat, Layout, wholes
from samesame.relate.parameters import InputRelation
from samesame.relate.propose import Values

NAMES = 6

Pairs = dict[str, tuple[Node, dict[int, Node]]]


@dataclass(frozen=True, slots=True)
class Sides:
    """Both graphs, and the ranks one by one; what the world's sources are of sequential ones; the outputs in `pairs`,
    each with where it is due; the names by which the world's roots go in place of the ranks' own; and the outputs that
    are `zero`, but for rounding."""

    met: World
    left: Graph
    right: Graph
    ranks: Sequence[Graph]
    sources: Sequence[Source]
    relation: InputRelation
    pairs: Pairs
    due: Mapping[str, Due]
    names: Mapping[str, str]
    mesh: Mesh
    zero: frozenset[str] = frozenset()

    def lying(self, values: tuple[Values, Values]) -> dict[str, Found]:
        """How each output lies on the ranks, by values."""
        return {name: self._lying(name, root, held, values) for name, (root, held) in self.pairs.items()}

    def without_noise(self, values: tuple[Values, Values]) -> Sides:
        """The same, once these values have told which outputs are zero."""
        return replace(self, zero=zero_outputs(self.left, self.right, self.pairs, self.due, values, self.mesh))

    def gradients_aside(self, values: tuple[Values, Values]) -> tuple[Sides, dict[str, Found]]:
        """The same without the gradients that programs leave at weights which they step, or return as well, and that
        are not where the weights are, as where each rank keeps its own and averages a copy; with how these lie."""
        returned = {root for name, (root, _) in self.pairs.items() if not is_gradient_left(name)}
        left = {name: (root, held) for name, (root, held) in self.pairs.items() if is_gradient_left(name)
                and (root in returned or name.removeprefix(GRADIENT) in self.pairs)}
        lying = {name: self._lying(name, *pair, values) if pair[1] else Found("none", "on no rank")
                 for name, pair in left.items()}
        lying |= {name: Found("none", "not on every rank that has the weight") for name in left if self.lacking(name)}
        aside = {name: lies for name, lies in lying.items() if not self.due[name].holds(lies)}
        return replace(self, pairs={k: v for k, v in self.pairs.items() if k not in aside}), aside

    def lacking(self, name: str) -> list[int]:
        """The ranks that hold what an output belongs to, and do not return it, where others do."""
        held = self.pairs[name][1]
        return sorted(self.due[name].own.keys() - held.keys()) if held else []

    def _lying(self, name: str, root: Node, held: Mapping[int, Node], values: tuple[Values, Values]) -> Found:
        wanted = [run[root.name] for run in values[0]]
        theirs = {rank: [run[node.name] for run in values[1]] for rank, node in held.items()}
        due = self.due[name]
        if name in self.zero:
            return lying_anyhow(due, list(held), self.mesh)
        found = output_relation(wanted, theirs, len(self.ranks), due.own, due.times)
        if found.kind != "none":
            return found
        cuts = on_a_grid(root, list(held), self.mesh)
        lying = (replace(output_relation(wanted, theirs, len(self.ranks), own), declared=text) for text, own in cuts)
        return next((other for other in lying if other.kind == "pieces"), found)


def sides_of(
    left: Graph,
    ranks: Sequence[Graph],
    mesh: Mesh,
    relations: Mapping[str, str],
    expected: Mapping[str, str],
    layouts: Mapping[str, Layout],
    stated: Mapping[str, Layout],
) -> Sides:
    """The sides of a refinement; arguments are those of `establish` (verb.py). Raises Mismatch where ranks do not meet,
    and Refused where the programs cannot be compared."""
    met = lockstep(ranks)
    right, left = with_defaults(met.graph), with_defaults(left)
    right, flat = without_padding(left, right, sources_of(right), relations)
    left, right = with_open_norms(left, right)
    sources = sources_of(right)
    known = {**flat, **layouts, **layouts_of(ranks, left)}
    relation = input_relation(left, right, sources, relations, known, mesh, expected)
    left, right = with_unchanged(left, right, sources, relation)
    right = with_parts_left(left, right, sources, relation)
    names = {**states_named(left, right), **gradients_named(left, sources, relation)}
    right = replace(right, roots=tuple((names.get(name, name), node) for name, node in right.roots))
    ranks = [_renamed(graph, f"r{rank}.", names) for rank, graph in enumerate(ranks)]
    _require_known(expected, left, mesh)
    pairs = paired(left, right, len(ranks), expected)
    roots = {name: root for name, (root, _) in pairs.items()}
    expected = {**declared_by_tensors(ranks), **expected}
    due = dues(roots, ranks, sources, relation.layouts, left, expected, mesh, stated)
    return Sides(met, left, right, ranks, sources, relation, pairs, due, names, mesh)


def fits(left: Graph, ranks: Sequence[Graph], job: Job, expected: Mapping[str, str]) -> bool:
    """Are the ranks' inputs and weights pieces of the sequential ones?"""
    try:
        right, left = with_defaults(lockstep(ranks).graph), with_defaults(left)
        right, flat = without_padding(left, right, sources_of(right), job.relations)
        known = {**flat, **layouts_of(ranks, left)}
        input_relation(left, right, sources_of(right), job.relations, known, job.axes, expected)
    except Mismatch:
        return True                                        # whatever the weights, these ranks do not meet
    except Refused:
        return False
    return True


def sources_of(right: Graph) -> list[Source]:
    """Inputs and weights of the world, each with its rank and the name it has there."""
    found = []
    for node in right.nodes:
        if node.operator in ("input", "parameter"):
            rank, _, name = node.name.partition(".")
            found.append(Source(int(rank.removeprefix("r")), node.origin.parameter or name, node))
    return found


def layouts_of(ranks: Sequence[Graph], left: Graph) -> dict[str, Layout]:
    """What DTensor says of each rank's inputs and weights: layouts of the sequential ones of the same name."""
    mine = {node.origin.parameter or node.name: node for node in left.nodes if node.operator in ("input", "parameter")}
    found = {}
    for rank, graph in enumerate(ranks):
        placed = placements(graph)
        for node in graph.nodes:
            name = node.origin.parameter or node.name
            told = placed.get(name) if node.operator in ("input", "parameter") and name in mine else None
            if told is not None and mine[name].shape == told.shape and not any(told.partial):
                found[f"r{rank}.{node.name}"] = held_part(mine[name].name, told)
    return found


def gradients_named(left: Graph, sources: Sequence[Source], relation: InputRelation) -> dict[str, str]:
    """For the world's gradients of weights, and what it leaves in weights, new names: of the sequential weight that a
    rank's weight is a piece of."""
    titles = {node.name: node.origin.parameter or node.name for node in left.nodes}
    names = {}
    for source in sources:
        of = set(wholes(relation.layouts[source.node.name]))
        if len(of) == 1:
            title = titles[of.pop()]
            for before, after in OF_A_WEIGHT:
                names[f"r{source.rank}.{before}{source.name}{after}"] = f"r{source.rank}.{before}{title}{after}"
    return names


def with_unchanged(
    left: Graph, right: Graph, sources: Sequence[Source], relation: InputRelation
) -> tuple[Graph, Graph]:
    """Both graphs, with what one leaves in a weight, an input or a buffer wherever the sequential program changes it,
    or a rank does, but for its own inputs. Who has it and does not write has it as it was."""
    titles = {node.name: node.origin.parameter or node.name for node in left.nodes}
    mine, yours = dict(left.roots), dict(right.roots)
    held = [(f"r{source.rank}.{source.name}", source.node, sorted(set(wholes(relation.layouts[source.node.name]))))
            for source in sources if not source.name.startswith(COTANGENT)]
    buffers = {node.origin.parameter: node.name for node in left.sources("constant") if node.origin.parameter}
    for node in right.sources("constant"):
        own = node.origin.parameter or ""
        if own and (name := _alike(own, buffers)):
            held.append((f"{node.name.partition('.')[0]}.{own}", node, [buffers[name]]))
    held = [(f"{name}{AFTER}", node, names) for name, node, names in held]
    changed = {name for after, node, names in held if after in yours and node.operator != "input" for name in names}
    changed |= {name for name, title in titles.items() if f"{title}{AFTER}" in mine}
    for after, node, names in held:
        if changed & {*names}:
            yours.setdefault(after, node)
            mine |= {f"{titles[name]}{AFTER}": left[name] for name in names if f"{titles[name]}{AFTER}" not in mine}
    return replace(left, roots=tuple(mine.items())), replace(right, roots=tuple(yours.items()))


def with_parts_left(left: Graph, right: Graph, sources: Sequence[Source], relation: InputRelation) -> Graph:
    """The world whose gradients of weights, and what it leaves in weights, are those of the sequential weights that a
    rank's weight is put together of: part by part, where there are several."""
    titles = {node.name: node.origin.parameter or node.name for node in left.nodes}
    shapes = {node.name: node.shape for node in left.sources("parameter")}
    roots, nodes = dict(right.roots), list(right.nodes)
    for source in sources:
        layout = relation.layouts[source.node.name]
        parts = parts_of(layout, shapes) if source.node.operator == "parameter" else []
        for before, after in OF_A_WEIGHT if len(parts) > 1 else ():
            whole = roots.pop(f"r{source.rank}.{before}{source.name}{after}", None)
            if whole is None:
                continue
            for part in parts:
                nodes.append(_cut(whole, part))
                (name,) = set(wholes(part.layout))
                roots[f"r{source.rank}.{before}{titles[name]}{after}"] = nodes[-1]
    return replace(right, roots=tuple(roots.items()), nodes=tuple(nodes))


def _cut(whole: Node, part: Part) -> Node:
    """That part of a weight, or of its gradient."""
    assert isinstance(whole.type, TensorType)
    args = whole, part.dim, part.start, part.stop
    type_ = TensorType(part.shape, whole.type.dtype)
    return Node(f"{whole.name}.part{part.start}", "aten.slice.Tensor", args, {}, type_, whole.origin)


def states_named(left: Graph, right: Graph) -> dict[str, str]:
    """For what ranks leave in buffers new names: of the sequential buffer whose path ends theirs, or theirs its, as
    where a rank's module is wrapped in another."""
    mine = [name for name, _ in left.roots if name.endswith(AFTER)]
    names = {}
    for name, _ in right.roots:
        rank, _, own = name.partition(".")
        if own.endswith(AFTER) and own not in mine and (other := _alike(own, mine)):
            names[name] = f"{rank}.{other}"
    return names


def _alike(own: str, names: Iterable[str]) -> str:
    """The one of these paths that ends the given one, or is ended by it; nothing if there are several, or none."""
    like = [other for other in names if f".{own}".endswith(f".{other}") or f".{other}".endswith(f".{own}")]
    return like[0] if len(like) == 1 else ""


def _renamed(graph: Graph, prefix: str, names: Mapping[str, str]) -> Graph:
    new = ((names.get(prefix + name, prefix + name).removeprefix(prefix), node) for name, node in graph.roots)
    return replace(graph, roots=tuple(new))


def paired(left: Graph, right: Graph, ranks: int, expected: Mapping[str, str] | None = None) -> Pairs:
    """Each sequential output by name, with those of the ranks that return it: of all, or of those where it is expected.

    Raises Refused where no rank returns an output and its name may be at fault: an output of the program, or the
    gradient of a weight that ranks have under another name. A gradient that is nowhere is a finding, and so is a tensor
    that the sequential program writes into and no rank does.
    """
    mine, theirs = dict(left.roots), dict(right.roots)
    own = {rank: [name.removeprefix(f"r{rank}.") for name in theirs if name.startswith(f"r{rank}.")]
           for rank in range(ranks)}
    missing = [name for name in mine if not any(name in names for names in own.values()) and not name.endswith(AFTER)]
    for rank, names in own.items():
        strange = [name for name in names if name not in mine and not name.endswith(AFTER)]
        if missing and (strange or any(not name.startswith(GRADIENT) for name in missing)):
            raise Refused(
                f"the sequential program returns {some_of(missing)} and rank {rank} returns "
                f"{some_of(strange or names)}; "
                "make both return the same outputs, by the same names"
            )
    found: Pairs = {}
    for name, node in mine.items():
        _, where = holders((expected or {}).get(name, ""), name, ranks)
        found[name] = node, {rank: theirs[f"r{rank}.{name}"] for rank in where if name in own[rank]}
    return found


def without_gradient(sides: Sides) -> dict[str, Found]:
    """Gradients that some ranks have and others, which have the weight too, have not: their copies would part."""
    found = {}
    for rank, graph in enumerate(sides.ranks):
        for name in idle_weights(graph):
            title = sides.names.get(f"r{rank}.{GRADIENT}{name}", f"r{rank}.{GRADIENT}{name}").partition(".")[2]
            if title in sides.pairs and sides.pairs[title][1] and rank not in sides.pairs[title][1]:
                found[title] = Found("none", f"rank {rank} has the weight, and no gradient of it")
    for title in filter(is_gradient_left, sides.pairs):
        for rank in sides.lacking(title):
            found[title] = Found("none", f"rank {rank} has the weight, and leaves no gradient of it")
    return found


def returned_besides(sides: Sides) -> list[str]:
    """What ranks return beside the sequential outputs, such as the activations between two stages. What is left in a
    weight put together of several, and its gradient, is compared part by part."""
    whole = {f"r{source.rank}.{before}{source.name}{after}" for source in sides.sources
             if isinstance(sides.relation.layouts[source.node.name], Concat)
             for before, after in OF_A_WEIGHT}
    return [f"{name} of rank {rank}" for rank, graph in enumerate(sides.ranks) for name, _ in graph.roots
            if (name not in sides.pairs or rank not in sides.pairs[name][1]) and f"r{rank}.{name}" not in whole
            and not is_gradient_left(name)]


def is_gradient_left(name: str) -> bool:
    return name.startswith(GRADIENT) and name.endswith(AFTER)


def returned_nowhere(sides: Sides) -> list[str]:
    """Which ranks return nothing for an output, and what they return instead. A gradient or a buffer that only some
    ranks have is the rule where each runs a part of the program."""
    told = []
    for name, (_, held) in sides.pairs.items():
        without = [rank for rank in sides.due[name].where if rank not in held]
        if held and without and not name.startswith(GRADIENT) and not name.endswith(AFTER):
            instead = {rank: [other for other, _ in sides.ranks[rank].roots if other not in sides.pairs]
                       for rank in without}
            more = "; ".join(f"rank {rank} returns {some_of(own)}" for rank, own in instead.items() if own)
            spoken = f"Rank {without[0]} returns" if len(without) == 1 else f"Ranks {_numbers(without)} return"
            told.append(f"{spoken} nothing for the output {name}{f'; {more}' if more else ''}.")
    return told


def _numbers(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks))


def some_of(names: Sequence[str]) -> str:
    """The first names of many, in words."""
    return (", ".join(names[:NAMES]) or "nothing") + (", …" if len(names) > NAMES else "")


def _require_known(expected: Mapping[str, str], left: Graph, mesh: Mesh) -> None:
    known = [name for name, _ in left.roots]
    for name, text in expected.items():
        if name not in known:
            raise Refused(f"an output {name} is expected, and the programs return {some_of(known)}")
        parsed(holders(text, name, prod(mesh.values()))[0], name, mesh)


def declared_by_tensors(ranks: Sequence[Graph]) -> dict[str, str]:
    """Outputs that are DTensors and say themselves that they are parts of a sum."""
    placed = ((name, told) for graph in ranks for name, told in placements(graph).items())
    return {name: f"partial({op})" for name, told in placed for op in told.partial if op in ("sum", "avg")}
