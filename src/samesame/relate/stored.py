"""Stored numbers read as what they are roundings of: one program keeps what the other computes.

A batch norm folded into a convolution, a low-rank update merged into a weight, a table kept in float32, a weight in
bfloat16, 0.1 in a tensor: the two programs then differ by the rounding of stored numbers, and by no more than that.
Three things are done about it, all of them by writing the graphs anew, so that draws and proofs need not know:

* buffers that both sides hold become variables (`buffers.py`);
* constants that a program makes of literals in float32 are made in float64 (`exact.py`);
* a stored tensor is read as a formula over the other side's weights (`formulas.py`), if each of its elements lies
  within what rounding may do to that formula (`roundings.py`). The formula takes its place in the graph, over copies of
  those weights, so that what is then proved holds for all weights; the reading stands in the report.

A formula that is near, but not within rounding, is a wrong number: it excuses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import torch

from samesame.evidence import Evidence, Reading, Refused, Root, Rung, SamesameError
from samesame.formula.assumptions import Said, simplified
from samesame.graph import Graph, Node, TensorType, map_nodes, rewritten
from samesame.operators.execute import closed, execute
from samesame.relate.buffers import as_sources, content, held_in, is_buffer, is_real, shared_buffers
from samesame.relate.candidates import MOVES
from samesame.relate.draws import Draw, take_draws
from samesame.relate.exact import Widened, exact
from samesame.relate.formulas import Formulas, Number, Numbers, filled
from samesame.relate.kinds import is_uniform
from samesame.relate.layout import Whole
from samesame.relate.parameters import InputRelation
from samesame.relate.propose import Values
from samesame.relate.relating import input_relation
from samesame.relate.roots import apart
from samesame.relate.roundings import Rounded, Unbounded, cone, packet, spelled, units, worked_out
from samesame.relate.vanishing import without_noise
from samesame.relate.words import formula_text

SIDES = ("left", "right")
Graphs = tuple[Graph, Graph]
Spelling = tuple[Any, ...]
Zeros = dict[str, Spelling]
Names = tuple[frozenset[str], frozenset[str]]
_TRIED = 24                 # formulas for one stored tensor
_SECONDS = 15.0             # of this thread's time, for all formulas of a side
NEAR_NUMBERS = 1e-4         # of a number: so near is another that it is likely meant
_NOISE = 1e-6               # units: what float64 itself may do
_LARGEST_SHARE = 2**-16     # of a tensor's largest magnitude: more than that, no rounding of float32 is to excuse


@dataclass(frozen=True, slots=True)
class Stored:
    """The node of a side that is read as a formula over the other's nodes, or as numbers, and how well it fits. What
    is not `shown` may be a rounding, if every step was taken in its own coarse dtype: nothing is proved by that."""

    side: int
    node: Node
    formula: Node | Number | Numbers
    reading: Reading
    shown: bool = True
    made_of: Spelling = ()      # what was worked out, and its formula: true of the sizes in them


@dataclass(slots=True)
class Meant:
    """Two programs with stored numbers read as what they are roundings of: the graphs, how their inputs are related,
    draws and values of these. `wrong` are stored tensors that come near a formula and are no rounding of it; `unknown`
    the names of those of which nothing is known."""

    graphs: Graphs
    relation: InputRelation
    taken: list[Draw]
    values: tuple[Values, Values]
    stored: list[Stored] = field(default_factory=list)
    tables: list[Stored] = field(default_factory=list)
    widened: list[tuple[str, Widened]] = field(default_factory=list)
    zeros: tuple[Zeros, Zeros] = field(default_factory=lambda: ({}, {}))
    wrong: list[Reading] = field(default_factory=list)
    unknown: frozenset[str] = frozenset()
    variables: Names | None = None
    as_made: bool = False       # constants are as the programs make them

    @property
    def differs(self) -> bool:
        return apart(self.graphs, self.values)

    @property
    def is_read_whole(self) -> bool:
        """Is all that is stored read as something? What is read in part only differs from draw to draw for that."""
        return bool(self.stored) and not self.wrong and not self.unknown

    @property
    def readings(self) -> list[Reading]:
        return [one.reading for one in (*self.stored, *self.tables) if one.shown]

    def conditions(self) -> tuple[str, ...]:
        """What is taken for granted, in sentences."""
        worst, left = dict[tuple[str, str], float](), dict[tuple[str, str], float]()
        for side, found in self.widened:
            worst[side, found.dtype] = max(worst.get((side, found.dtype), 0.0), found.error)
            left[side, found.dtype] = max(left.get((side, found.dtype), 0.0), found.leaves)
        constants = (f"constants that the {side} works out in {dtype} are read as exact: off by at most {error:.1e} of "
                     "the largest of them" for (side, dtype), error in worst.items() if error)
        zeros = (f"constants that the {side} works out in {dtype} are read as 0 where they cancel: rounding leaves at "
                 f"most {most:.1e}" for (side, dtype), most in left.items() if most)
        return (*map(str, self.readings), *constants, *zeros)

    def unshown(self) -> list[str]:
        return [str(stored.reading) for stored in self.stored if not stored.shown]

    def form(self, k: int, given: Graph) -> dict[str, Any]:
        """What is read otherwise than in the graph given, on one side, as data: buffers that are variables, and for
        each stored tensor what stands for it."""
        buffers = {node.name for node in given.sources("constant")}
        return {
            "variables": sorted(node.name for node in self.graphs[k].sources("parameter") if node.name in buffers),
            "stored": [
                {
                    "node": one.node.name,
                    "stands": f"{one.node.name}_read" if isinstance(one.formula, Node) else one.node.name,
                    "words": one.reading.formula,
                    **{part: getattr(one.reading, part) for part in ("dtype", "worst", "allowed", "most", "roundings")},
                }
                for one in (*self.stored, *self.tables) if one.side == k
            ],
        }

    def rewrite(self, graphs: Graphs) -> Graphs:
        """Graphs of the same programs, at other sizes, written anew in the same way. Raises Refused where a reading
        does not hold there."""
        if self.as_made:
            names = self.variables or (frozenset(), frozenset())
            return as_sources(graphs[0], names[0], "parameter"), as_sources(graphs[1], names[1], "parameter")
        (left, of_left), (right, of_right) = map(exact, graphs)
        wide = left, right
        if self.zeros != (_zeros(graphs[0], of_left), _zeros(graphs[1], of_right)):
            raise Refused("constants that cancel to zero there are made of sizes")
        for stored in self.stored:
            if not stored.node.is_source:
                raise Refused(f"{stored.reading.name} is cut there, and was read at the sizes of the example only")
            if isinstance(stored.formula, Numbers):
                _require_held(stored, graphs, self.graphs)
            if isinstance(stored.formula, Node) and not any(n.operator == "parameter" for n in cone(stored.formula)):
                _require_holds(stored, graphs, wide)
            if isinstance(stored.formula, Node):
                there = _as_in(stored.formula, wide[1 - stored.side], {})
                _require_same(stored, spelled(there, wide[1 - stored.side]))
        read = _written(wide, self.stored, self.variables)
        tables = _Search(read, read).tables() if self.tables else []
        if [_names(one) for one in tables] != [_names(one) for one in self.tables]:
            raise Refused("constants that both programs work out agree at the sizes of the example only")
        for one, now in zip(self.tables, tables, strict=True):
            _require_same(one, now.made_of)
        return _substituted(read, tables, 0)[0], _substituted(read, tables, 1)[0]


def meant(graphs: Graphs, relation: InputRelation, seed: int) -> Meant | None:
    """The two programs, whose weights are related so, with stored numbers read as they are meant; None where no run of
    that is to be had."""
    names = shared_buffers(graphs)
    if any(names):
        left, right = (as_sources(graph, own, "parameter") for graph, own in zip(graphs, names, strict=True))
        found = _drawn((left, right), [], seed)
        if found is not None and not found.differs and not _unpaired(found.relation):
            return replace(found, variables=names, as_made=True)
    made = exact(graphs[0]), exact(graphs[1])
    wide: Graphs = (made[0][0], made[1][0])
    search = _Search(graphs, wide, (frozenset(relation.unpaired_left), frozenset(relation.unpaired_right)))
    stored, found = search.result(), None
    for chosen in (names, None):                         # a mask in a buffer says more as the constant that it is
        read = _written(wide, stored, chosen)
        tables = _Search(read, read).tables()
        whole = _substituted(read, tables, 0)[0], _substituted(read, tables, 1)[0]
        found = _drawn(whole, stored, seed, chosen, tables) or found
        if found is not None and not found.differs:
            break
    if found is not None:
        found.widened = [(side, one) for side, (_, changed) in zip(SIDES, made, strict=True) for one in changed]
        found.zeros = _zeros(graphs[0], made[0][1]), _zeros(graphs[1], made[1][1])
        found.wrong, found.unknown = search.wrong, frozenset(search.unknown)
        found.relation.suspects, found.relation.refused = found.unknown, found.wrong
    return found


def up_to_rounding(roots: list[Root], read: Meant) -> list[Root]:
    """Outputs that are proved the same of what stored numbers mean are the same up to their rounding, and provided
    that each is read so."""
    conditions, unshown = read.conditions(), read.unshown()
    found = []
    for root in roots:
        evidence = root.evidence
        if evidence.rung > Rung.UNDECIDED and unshown:
            why = f"the same if {'; '.join(unshown)}: more than one rounding, and too coarse to tell from a mistake"
            evidence = Evidence(Rung.UNDECIDED, "values", detail=why)
        elif evidence.rung > Rung.ROUNDED and conditions:
            told = simplified((*evidence.conditions, *(Said("stored", words) for words in conditions)))
            evidence = replace(evidence, rung=Rung.ROUNDED, conditions=told)
        found.append(replace(root, evidence=evidence))
    return found


def _drawn(
    graphs: Graphs, stored: list[Stored], seed: int, variables: Names | None = None, tables: Sequence[Stored] = ()
) -> Meant | None:
    """Draws of graphs that were written anew; None where no run of them is to be had."""
    relation = input_relation(*graphs)
    _relate_copies(relation, graphs)
    try:
        taken, values = take_draws(graphs, relation.layouts, seed)
    except Refused:
        return None
    return Meant(graphs, relation, taken, without_noise(graphs, values), stored, list(tables), variables=variables)


def _unpaired(relation: InputRelation) -> bool:
    return bool(relation.unpaired_left or relation.unpaired_right)


# ------------------------------------------------------------------------------------------------- writing graphs anew


def _written(graphs: Graphs, stored: list[Stored], variables: Names | None) -> Graphs:
    """The graphs with formulas in the place of stored tensors, over copies of the other side's weights. With
    `variables`, these buffers and all that formulas speak of are parameters."""
    (left, right), (of_right, of_left) = zip(*(_substituted(graphs, stored, k) for k in (0, 1)), strict=True)
    if variables is None:
        return exact(left)[0], exact(right)[0]
    mine = variables[0] | _buffers(left, of_right.values()) | _buffers(left, of_left)
    yours = variables[1] | _buffers(right, of_left.values()) | _buffers(right, of_right)
    return exact(as_sources(left, mine, "parameter"))[0], exact(as_sources(right, yours, "parameter"))[0]


def _buffers(graph: Graph, names: Iterable[str]) -> frozenset[str]:
    """Those of these sources that are buffers."""
    constants = {node.name: node for node in graph.sources("constant")}
    return frozenset(name for name in names if name in constants and is_buffer(constants[name], graph))


def _substituted(graphs: Graphs, stored: list[Stored], k: int) -> tuple[Graph, dict[str, str]]:
    """One side with its readings in place, and the names of its copies of the other's sources."""
    mine, theirs = graphs[k], graphs[1 - k]
    read = {one.node.name: one for one in stored if one.side == k}
    if not read:
        return mine, {}
    taken = {node.name for node in mine.nodes}
    tensors, copies, made, there_now = dict(mine.tensors), dict[str, str](), dict[Node, Node](), dict[Node, Node]()

    def copied(node: Node) -> list[Node]:
        """The nodes of a formula that are not there yet, under names of their own."""
        fresh = []
        for part in cone(node):
            if part in made:
                continue
            name = f"{part.name}_of_{SIDES[1 - k]}"
            while name in taken:
                name += "_"
            taken.add(name)
            if part.is_source:
                tensors[name] = theirs.tensors[part.name]
                copies[part.name] = name
            kwargs = {key: map_nodes(made.__getitem__, value) for key, value in part.kwargs.items()}
            made[part] = replace(part, name=name, args=map_nodes(made.__getitem__, part.args), kwargs=kwargs)
            fresh.append(made[part])
        return fresh

    def make(node: Node, now: Node) -> list[Node]:
        one = read.get(node.name)
        if one is None:
            return [now]
        if not isinstance(one.formula, Node):
            tensors[node.name] = filled(one.formula, node.shape)
            return [replace(now, operator="constant", type=TensorType(node.shape, "float64"))]
        formula = _as_in(one.formula, theirs, there_now)
        fresh = copied(formula)
        name = f"{node.name}_read"
        return [*fresh, Node(name, "aten.alias.default", (made[formula],), {}, made[formula].type, node.origin)]

    graph = rewritten(mine, make)
    held = {node.name: tensors[node.name] for node in graph.nodes if node.name in tensors}
    return replace(graph, tensors=held), copies


def _as_in(formula: Node, graph: Graph, now: dict[Node, Node]) -> Node:
    """The formula over the nodes of a graph that have the names of those it is over; `now` has those made before."""
    there = {node.name: node for node in graph.nodes}
    for node in cone(formula):
        if node in now:
            continue
        if node.name in there:
            now[node] = there[node.name]
        elif node.is_source:
            raise Refused(f"{node.name} is not there at other sizes")
        else:
            now[node] = replace(node, args=map_nodes(now.__getitem__, node.args))
    return now[formula]


def _relate_copies(relation: InputRelation, graphs: Graphs) -> None:
    """A copy of a weight is that weight, whatever else holds equal numbers."""
    held = [{node.name for node in graph.sources("parameter")} for graph in graphs]
    for k, graph in enumerate(graphs):
        ending = f"_of_{SIDES[1 - k]}"
        for node in graph.sources("parameter"):
            name = node.name.rstrip("_").removesuffix(ending)
            if not node.name.rstrip("_").endswith(ending) or name not in held[1 - k]:
                continue
            left, right = (node.name, name) if k == 0 else (name, node.name)
            relation.layouts[right] = Whole(left)
            relation.unpaired_left = [other for other in relation.unpaired_left if other != left]
            relation.unpaired_right = [other for other in relation.unpaired_right if other != right]
            relation.how.pop(right, None)


# ---------------------------------------------------------------------------------------------------------- the search


class _Search:
    """Readings of what each side stores and the other does not."""

    def __init__(self, graphs: Graphs, wide: Graphs, unpaired: Names = (frozenset(), frozenset())) -> None:
        self.graphs, self.wide, self.unpaired = graphs, wide, unpaired
        self.until = time.thread_time() + _SECONDS
        self.wrong: list[Reading] = []
        self.unknown: list[str] = []
        self.spoken: set[str] = set()                    # the names in formulas that wrong numbers come near
        self.runs: list[dict[str, Any]] = [execute(graph, graph.tensors) for graph in wide]

    def result(self) -> list[Stored]:
        """The right side's first, since it is mostly the one that was written after the other; then the left's."""
        found: list[Stored] = []
        for k in (1, 0):
            found += self.side(k, found)
        return found

    def side(self, k: int, before: list[Stored]) -> list[Stored]:
        """Readings of one side's stored tensors, as formulas over what the other side holds."""
        named = {part.name for one in before if isinstance(one.formula, Node) for part in cone(one.formula)}
        waiting = [node for node in self.lone(k) if node.name not in named | self.spoken]
        if not waiting:
            return []
        formulas = self.formulas(k)
        tensors = {node.name: self.graphs[k].tensors[node.name] for node in waiting}
        formulas.look_for({name: value for name, value in tensors.items() if not is_uniform(value)})
        return [one for one in (self.read(k, node, formulas) for node in waiting) if one is not None]

    def formulas(self, k: int) -> Formulas:
        return Formulas(self.wide[k], self.wide[1 - k], (self.runs[k], self.runs[1 - k]))

    def tables(self) -> list[Stored]:
        """Constants that both sides work out, each in its own way: the right's read as the left's, and a number as one
        that is written, where they are the same to within what float64 rounds."""
        found: list[Stored | None] = []
        for k in (1, 0):
            lone = self.worked_out(k)
            if not lone:
                continue
            formulas = self.formulas(k)
            found += [self.constant(k, node, formulas) for node in lone if is_uniform(self.runs[k][node.name])]
            if k == 1:
                found += [self.table(k, node, formulas) for node in lone if not is_uniform(self.runs[k][node.name])]
        return [one for one in found if one is not None]

    def worked_out(self, k: int) -> list[Node]:
        """What one side works out of literals and the rest of it reads, where the other side has no such numbers."""
        graph, other = self.wide[k], self.wide[1 - k]
        names, theirs = closed(graph), closed(other)
        held = {content(self.runs[1 - k][name]) for name in theirs if isinstance(self.runs[1 - k][name], torch.Tensor)}
        read = {part for node in graph.nodes if node.name not in names for part in node.inputs}
        found = [node for node in graph.nodes if node in read and node.name in names and not node.is_source]
        return [node for node in found if isinstance(value := self.runs[k][node.name], torch.Tensor)
                and value.dtype == torch.float64 and is_real(value) and content(value) not in held]

    def constant(self, k: int, node: Node, formulas: Formulas) -> Stored | None:
        """A number that is worked out, as a plainer one."""
        own = self.rounded(k, node, torch.float64)
        value = float(self.runs[k][node.name].flatten()[0])
        unit = float(units(torch.tensor(value, dtype=torch.float64), torch.float64))
        allowed = 1 + float(own.error.max()) / unit if own is not None else 0.0
        vague = own is not None and float(own.error.max()) > _LARGEST_SHARE * abs(value)
        for number in formulas.plainer(value):
            if vague and number.value != 0:
                continue                                     # of what cancels, rounding leaves no more than zero
            off = abs(number.value - value) / unit
            if 0 < off <= allowed and own is not None:
                bounds = (off, allowed, allowed, own.roundings)
                reading = Reading(SIDES[k], _made_at(node), number.words, "float64", *bounds)
                return Stored(k, node, number, reading, made_of=spelled(node, self.wide[k]))
        return None

    def table(self, k: int, node: Node, formulas: Formulas) -> Stored | None:
        """A table that is worked out, as the other side works it out."""
        own = self.rounded(k, node, torch.float64)
        if own is None:
            return None
        names = closed(self.wide[1 - k])
        for formula in formulas.computed(own.value):
            if any(part.is_source and part.name not in names for part in cone(formula)):
                continue
            other = self.rounded(1 - k, formula, torch.float64, formulas)
            if other is None:
                continue
            if float((own.error + other.error).max()) > _LARGEST_SHARE * float(other.value.abs().max()):
                continue
            unit = units(other.value, torch.float64)
            off, allowed = (own.value - other.value).abs() / unit, 1 + (own.error + other.error) / unit
            if bool((off <= allowed).all()):
                at = int((off / allowed).argmax())
                worst, most = float(off.reshape(-1)[at]), float(allowed.reshape(-1)[at])
                reading = Reading(SIDES[k], _made_at(node), formula_text(formula), "float64", worst, most,
                                  float(allowed.max()), own.roundings + other.roundings)
                made_of = *spelled(node, self.wide[k]), *spelled(formula, self.wide[1 - k])
                return Stored(k, node, formula, reading, made_of=made_of)
        return None

    def rounded(
        self, k: int, node: Node, dtype: torch.dtype, formulas: Formulas | None = None, *, surely: bool = False
    ) -> Rounded | None:
        """What a formula over one side's nodes may be off by; None where that is not known."""
        known = self.runs[k] if formulas is None else formulas.weights.values
        try:
            return worked_out(node, self.wide[k], known, dtype, surely=surely)
        except (Unbounded, SamesameError):
            return None

    def lone(self, k: int) -> list[Node]:
        """Real stored tensors that the other side holds in no layout, and numbers in a coarse dtype. What a side works
        out is no such tensor, though it is written into the wide graph where its zeros are known."""
        graph = self.graphs[k]
        constants = [node for node in self.wide[k].sources("constant") if node.name in graph.tensors]
        held = held_in(self.graphs[1 - k], {node.shape for node in constants})
        found = [node for node in self.wide[k].sources("parameter") if node.name in self.unpaired[k]]
        for node in constants:
            value = graph.tensors[node.name]
            number = value.dtype != torch.float64 and is_uniform(value)
            if number or content(value) not in held:
                found.append(node)
        self.unknown += [node.name for node in found if graph.tensors[node.name].is_complex()]
        values = ((node, graph.tensors[node.name]) for node in found)                     # no other numbers are rounded
        return [node for node, value in values if value.is_floating_point() and value.numel()]

    def read(self, k: int, node: Node, formulas: Formulas) -> Stored | None:
        """The first formula that the tensor is a rounding of, or a piece of it that the program reads."""
        value = self.graphs[k].tensors[node.name]
        nearest: Stored | None = None
        vector = value.numel() > 1 and bool(node.origin.parameter)
        for place in (node, *self.moved(k, node)) if vector or not is_uniform(value) else ():
            for formula in islice(formulas.of(place), _TRIED):
                if time.thread_time() > self.until:
                    break
                if is_uniform(value) and not any(part.is_source for part in cone(formula)):
                    continue                                 # a number says it better
                if not formulas.weights.value(formula).is_floating_point():
                    continue                                 # no rounding makes one kind of number another
                found = self.weighed(k, node, place, value.dtype, formula, formulas)
                if found.shown:
                    return found
                if nearest is None or found.reading.worst < nearest.reading.worst:
                    nearest = found
        if is_uniform(value):
            own = float(value.flatten()[0])
            number = next(formulas.numbers(own, value.dtype), None)
            if number is not None:
                return None if number.value == own else self.as_number(k, node, value, number)
        elif nearest is None and node.operator == "constant" and (numbers := formulas.each(value)) is not None:
            return self.as_number(k, node, value, numbers)
        if nearest is None:
            self.left_open(k, node, value, formulas)
        elif (may_be := self.may_be(nearest, value.dtype, formulas)) is None:
            self.unknown.append(node.name)
        elif may_be:
            return nearest
        else:
            assert isinstance(nearest.formula, Node)
            self.wrong.append(nearest.reading)
            self.spoken |= {part.name for part in cone(nearest.formula)}
        return None

    def left_open(self, k: int, node: Node, value: torch.Tensor, formulas: Formulas) -> None:
        """A stored tensor that is near no formula; one that is a number may be near another number, and not round to
        it."""
        own = float(value.flatten()[0])
        others = chain(formulas.plainer(own), formulas.held()) if is_uniform(value) else iter(())
        near = [number for number in others if abs(number.value - own) <= NEAR_NUMBERS * abs(own)]
        readings = [self.as_number(k, node, value, number).reading for number in near]
        nearest = min(readings, key=lambda reading: reading.worst, default=None)
        if nearest is None or nearest.worst <= 1 + _NOISE:
            self.unknown.append(node.name)
        else:
            self.wrong.append(nearest)

    def moved(self, k: int, node: Node) -> list[Node]:
        """What the program only cuts or moves out of the stored tensor, without an input."""
        found = {node}
        for other in self.wide[k].nodes:
            moves = packet(other) in MOVES and isinstance(other.type, TensorType)
            if moves and not other.is_source and all(part in found for part in other.inputs):
                found.add(other)
        return [other for other in self.wide[k].nodes if other in found and other is not node]

    def as_number(self, k: int, node: Node, value: torch.Tensor, number: Number | Numbers) -> Stored:
        """The tensor as these numbers; how far its elements lie from them, where it is tightest."""
        each = number.numbers if isinstance(number, Numbers) else (number,) * value.numel()
        meant, allowed = filled(number, value.shape), torch.tensor([n.allowed for n in each], dtype=torch.float64)
        off = ((value.double() - meant).abs() / units(meant, value.dtype)).flatten()
        at = int((off / allowed).argmax())
        bounds = float(off[at]), float(allowed[at]), float(allowed.max())
        return Stored(k, node, number, Reading(SIDES[k], _called(node), number.words, _named(value.dtype), *bounds))

    def weighed(self, k: int, node: Node, place: Node, dtype: torch.dtype, formula: Node, formulas: Formulas) -> Stored:
        """How far the stored numbers lie from the formula, against how far rounding may carry them where it is worked
        out in float32, or better."""
        stored = self.runs[k][place.name].reshape(-1)
        found = self.rounded(1 - k, formula, dtype if dtype.itemsize > 4 else torch.float32, formulas)
        made = formulas.weights.value(formula).reshape(-1)
        error = torch.zeros_like(made) if found is None else found.error.reshape(-1)
        error = torch.where(error > _LARGEST_SHARE * made.abs().max(), 0.0, error)
        off, allowed = _apart(stored, made, error, dtype)
        at = int((off / allowed).argmax())
        bounds = float(off[at]), float(allowed[at]), float(allowed.max()), 0 if found is None else found.roundings
        reading = Reading(SIDES[k], _called(node), formula_text(formula), _named(dtype), *bounds)
        shown = bool((off <= allowed).all())
        return Stored(k, place, formula, reading, shown, spelled(formula, self.wide[1 - k]))

    def may_be(self, nearest: Stored, dtype: torch.dtype, formulas: Formulas) -> bool | None:
        """Might rounding explain it, were every step taken in the stored dtype and every sum in the worst order, or
        were both roundings of a third? None where nothing is known of the rounding of some operator."""
        assert isinstance(nearest.formula, Node)
        stored = self.runs[nearest.side][nearest.node.name].reshape(-1)
        fine = dtype.itemsize >= 4
        found = self.rounded(1 - nearest.side, nearest.formula, dtype, formulas, surely=fine)
        if found is None:
            return None
        made, error = found.value.reshape(-1), found.error.reshape(-1)
        if fine:
            error = error.clamp(max=float(_LARGEST_SHARE * made.abs().max()))
        off, allowed = _apart(stored, made, error, dtype)
        sources = (part.type for part in cone(nearest.formula) if part.is_source)
        held = found.roundings == 0 and all(isinstance(t, TensorType) and t.dtype == _named(dtype) for t in sources)
        return bool((off <= (torch.full_like(allowed, 1 + _NOISE) if held else allowed)).all())


def _apart(stored: torch.Tensor, made: torch.Tensor, error: torch.Tensor, dtype: torch.dtype
           ) -> tuple[torch.Tensor, torch.Tensor]:
    """How far stored numbers lie from what they should be, and how far they may, in units in the last place."""
    unit = units(made, dtype)
    return (stored.double() - made).abs() / unit, 0.5 + _NOISE + error / unit


def _require_holds(stored: Stored, graphs: Graphs, wide: Graphs) -> None:
    """At other sizes, too, the stored numbers are roundings of the formula. Raises Refused where they are not."""
    k = stored.side
    constants = closed(wide[1 - k])
    there = replace(wide[1 - k], nodes=tuple(n for n in wide[1 - k].nodes if n.name in constants), roots=())
    known = execute(there, {})
    formula = stored.formula
    assert isinstance(formula, Node)
    value = graphs[k].tensors[stored.node.name]
    made = worked_out(_as_in(formula, wide[1 - k], {}), wide[1 - k], known, value.dtype)
    off = (value.double() - made.value.reshape(value.shape)).abs()
    allowed = (0.5 + _NOISE) * units(made.value, value.dtype) + made.error
    if made.value.shape != value.shape or not bool((off <= allowed.reshape(value.shape)).all()):
        raise Refused(f"{stored.reading.name} is no rounding of {stored.reading.formula} there")


def _zeros(graph: Graph, changed: list[Widened]) -> Zeros:
    """The constants whose zeros rounding hides, as the program makes them."""
    return {one.node.name: spelled(one.node, graph) for one in changed if one.meant is not None}


def _require_same(stored: Stored, there: Spelling) -> None:
    """At other sizes, too, it is the same formula: another one may be another number at a size that nobody ran, as the
    mean of a squared wave is ½, and 1 at some. Raises Refused where it is not."""
    if stored.made_of != there:
        raise Refused(f"{stored.reading.name} is made of sizes, and was read at those of the example only")


def _require_held(stored: Stored, graphs: Graphs, read: Graphs) -> None:
    """At other sizes, too, these numbers are what is stored. Raises Refused where they are not."""
    name = stored.node.name
    own, there = (g[stored.side].tensors.get(name) for g in (read, graphs))
    if own is None or there is None or not torch.equal(own.to(there.dtype), there):
        raise Refused(f"{stored.reading.name} holds other numbers there")


def _constants(graph: Graph) -> set[str]:
    return {node.name for node in graph.sources("constant")}


def _names(one: Stored) -> tuple[object, ...]:
    return one.side, one.node.name, one.formula.name if isinstance(one.formula, Node) else one.formula.words


def _made_at(node: Node) -> str:
    return f"the constant at {node.origin}" if node.origin.file else node.name


def _called(node: Node) -> str:
    return node.origin.parameter or (f"the tensor at {node.origin}" if node.origin.file else node.name)


def _named(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
