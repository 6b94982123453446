"""Sides: the two programs of a check, recorded so that what they show pairs up.

Both are recorded alike: over one call, or over two where one call of either does not tell all (capture/calls.py). Their
inputs pair by name or order, their outputs by the place they have in what a call returns, and what is left behind by
name. Every pair becomes a root of both graphs; what has no partner, another dtype or shape, or shares memory otherwise
is a difference of its own (graph/interface.py), unless it is to be ignored.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import prod
from typing import Any

from samesame.capture import GRADIENTS, Differentiates, Recorded, capture, capture_calls, may_want_gradients
from samesame.capture.artefacts import program_of
from samesame.capture.calls import SECOND_INPUT
from samesame.capture.checkpoints.transformers import ModelProgram
from samesame.capture.program import Foreign
from samesame.capture.sizes.family import Apart
from samesame.evidence import Refused
from samesame.graph import Graph, Node, Setting, TensorType, with_roots
from samesame.graph.interface import (
    KINDS,
    SECOND,
    Difference,
    Interface,
    State,
    aliasing,
    differing,
    python_values,
    returned_root,
    spoken,
    state_root,
)
from samesame.operators.defaults import with_defaults
from samesame.relate.draws import has_nan
from samesame.relate.parameters import Contents
from samesame.relate.propose import agree

SIDES = "left", "right"
_NAMES = 8
_SHOWN = 6                                                 # names in a note
FIRST_TWO, FIRST_ONLY = "for the first two calls", "for the first call"
WEIGHTS = "what they leave in weights aside"
GRADIENT = ".grad"

Graphs = tuple[Graph, Graph]
Pair = tuple[str, Node, Node]                              # a root's name, and its node on each side


def instance(program: Any) -> Any:
    """The module or function to capture: a class, or a function without parameters, is called to make it."""
    if inspect.isclass(program) or (inspect.isfunction(program) and not inspect.signature(program).parameters):
        program = program()
    return program_of(program)


def built_of(program: Any) -> str:
    """What a model of a checkpoint says about the class that was built; nothing for other programs."""
    return str(program.built) if isinstance(program, ModelProgram) else ""


@dataclass(frozen=True, slots=True)
class Side:
    """One program's graph, and its interface where that is known: a saved graph has none."""

    graph: Graph
    interface: Interface | None = None

    def __getitem__(self, root: str) -> Node:
        return dict(self.graph.roots)[root]

    @property
    def returned(self) -> Graph:
        """The graph with what a first call returns for its only roots."""
        if self.interface is None:
            return self.graph
        names = self.interface.structures[0].tensors
        return replace(self.graph, roots=tuple(root for root in self.graph.roots if root[0] in names))


@dataclass(slots=True)
class Sides:
    """Both programs, and what was found out when they were first recorded: `differences` beside values, those that were
    `ignored`, for how many calls the answer holds (`scope`; empty for all), and `notes`."""

    programs: tuple[Any, Any]
    how: str
    ignore: Collection[str] = ()
    calls: int = 1
    watched: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    repeats: bool = False
    differences: list[Difference] = field(default_factory=list)
    ignored: list[Difference] = field(default_factory=list)
    unpaired: list[tuple[str, Node, Node]] = field(default_factory=list)
    scope: str = ""
    notes: list[str] = field(default_factory=list)
    settings: tuple[Setting, Setting] = (Setting(), Setting())

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.ignore if kind not in KINDS]
        if unknown:
            raise Refused(f"ignore is {unknown[0]!r}; give {', '.join(KINDS)}")

    # -------------------------------------------------------------------------------------------------- recording

    def first(self, example: Any) -> Graphs:
        """Both graphs on the example, with what is found out about the programs."""
        stateful = "state" not in self.ignore
        recorded = self.recorded(example, probing=stateful, again=True)
        first, second = (found.setting if isinstance(found, Graph) else found.graph.setting for found in recorded)
        self.settings = first, second
        self.notes += dict.fromkeys(note for program in self.programs if (note := built_of(program)))
        fails = [found.fails if isinstance(found, Recorded) else "" for found in recorded]
        reasons = [found.again if isinstance(found, Recorded) else "" for found in recorded]
        if any(fails):
            self.scope = FIRST_ONLY
            self.tell_failure(fails)
        elif any(reasons) and any(isinstance(program, Graph | Foreign) for program in self.programs):
            self.scope = FIRST_ONLY
            self.notes.append("A graph in a file is of one call; what a call leaves behind was not compared with it.")
        elif any(reasons):
            self.calls, self.repeats = 2, any(isinstance(r, Recorded) and r.repeats for r in recorded)
            names = namesakes(*(r.graph if isinstance(r, Recorded) else r for r in recorded))
            back = {mine: yours for yours, mine in names.items()}
            self.watched = state_names(recorded[1], names), state_names(recorded[0], back)
            told = "; ".join(f"on the {side}, {why}" for side, why in zip(SIDES, reasons, strict=True) if why)
            self.notes.append(f"Two calls were compared, for one does not tell all: {told}.")
            recorded = self.recorded(example)
        graphs, differences = self.paired(recorded, isinstance(example, Mapping), note=True)
        if not graphs[0].roots and not differences:
            raise Refused("the programs return no tensor and write into none, so there is nothing to compare")
        for difference in differences:
            spared = difference.kind in self.ignore and not difference.final
            (self.ignored if spared else self.differences).append(difference)
        return graphs

    def at_other_sizes(self, example: Any) -> Graphs:
        """Both graphs on inputs of other sizes. Raises Refused where they differ there in more than numbers."""
        graphs, differences = self.paired(self.recorded(example), isinstance(example, Mapping))
        for difference in differences:
            if difference.final or difference.kind not in self.ignore:
                raise Apart(f"at other sizes {difference.text}")
        return graphs

    def settings_of_recording(self) -> tuple[str, int, tuple[frozenset[str], frozenset[str]], bool]:
        """All that a recording at other sizes goes by, beside the programs and their inputs."""
        return self.how, self.calls, self.watched, self.repeats

    def recorded(
        self, example: Any, *, probing: bool = False, again: bool = False
    ) -> tuple[Recorded | Graph, Recorded | Graph]:
        """Both programs as they are called; if one computes gradients, both with these on."""
        try:
            return self.recorded_so(example, probing=probing, again=again)
        except Refused as error:
            if self.how != "record" or not may_want_gradients(error):
                raise
            self.how = GRADIENTS
            try:
                return self.recorded_so(example, probing=probing, again=again)
            except Refused as other:
                if isinstance(error, Differentiates):
                    raise
                self.how = "record"
                raise error from other

    def recorded_so(
        self, example: Any, *, probing: bool, again: bool
    ) -> tuple[Recorded | Graph, Recorded | Graph]:
        left, right = (
            capture(program, example, how=self.how, name=name)
            if isinstance(program, Graph)
            else capture_calls(program, example, how=self.how, name=name, calls=self.calls, watched=watched,
                               probing=probing, repeats=self.repeats, borrows=True, again=again)
            for program, name, watched in zip(self.programs, SIDES, self.watched, strict=True)
        )
        return left, right

    def tell_failure(self, fails: Sequence[str]) -> None:
        """What it means that a second call of a program raises."""
        if all(fails):
            told = ", and on the right: ".join(dict.fromkeys(fails))
            self.notes.append(f"A second call fails on both sides ({told}), so one call was compared.")
        else:
            side, other = SIDES if fails[0] else SIDES[::-1]
            text = f"the second call raises on the {side} ({fails[0] or fails[1]}) and gives a result on the {other}"
            self.differences.append(Difference("state", text))

    # ---------------------------------------------------------------------------------------------------- pairing

    def paired(
        self, recorded: tuple[Recorded | Graph, Recorded | Graph], by_name: bool, note: bool = False
    ) -> tuple[Graphs, list[Difference]]:
        """Both graphs with paired inputs and roots, and what differs besides."""
        left, right = (
            Side(with_defaults(found), None) if isinstance(found, Graph)
            else Side(with_defaults(found.graph), None if isinstance(program, Foreign) else found.interface)
            for found, program in zip(recorded, self.programs, strict=True)
        )
        right = replace(right, graph=inputs_in_order(left.graph, right.graph, by_name=by_name))
        require_same_inputs(left.graph, right.graph)
        differences: list[Difference] = []
        pairs: list[Pair] = []
        if left.interface is None or right.interface is None:
            pairs = named_alike(left.returned, right.returned, differences)
        else:
            renamed = renaming(left, right)
            right = replace(right, interface=renamed)
            outputs = [list(self.outputs(call, left, right, differences)) for call in range(self.calls)]
            pairs = list(chain(*outputs))
            if outputs:
                places = [found for found in self.compared(0, left, right) if not isinstance(found, Difference)]
                differences += aliasing(places, left.interface, renamed)
            if "state" not in self.ignore:
                pairs += self.states(left, right, differences)
                differences += python_values(left.interface, renamed)
            if note:
                self.notes += left_out(left.interface, renamed, {name for name, _, _ in pairs})
        kept: list[Pair] = []
        for name, a, b in pairs:
            unlike = [*_of_types(name, a, b)]
            differences += unlike
            if any(difference.kind == "shape" for difference in unlike):
                if "shape" in self.ignore and prod(a.shape) == prod(b.shape):
                    made = Node(f"{b.name}.reshaped", "aten.reshape.default", (b, a.shape), {},
                                TensorType(a.shape, _dtype(b)), b.origin)
                    right = replace(right, graph=replace(right.graph, nodes=(*right.graph.nodes, made)))
                    kept.append((name, a, made))
                elif note:
                    self.unpaired.append((name, a, b))
            else:
                kept.append((name, a, b))
        if note:
            aside = any(map(partial(leaves_weights, {name for name, _, _ in pairs}), (left, right)))
            scopes = self.scope or self.reach(left, right, kept), WEIGHTS if aside else ""
            self.scope = ", ".join(filter(None, scopes))
        graphs = (with_roots(left.graph, [(name, a) for name, a, _ in kept]),
                  with_roots(right.graph, [(name, b) for name, _, b in kept]))
        return graphs, list(dict.fromkeys(differences))

    def compared(self, call: int, left: Side, right: Side) -> list[Difference | tuple[str, str]]:
        """What differs in how the results of a call are put together, and pairs of names. Where that is to be ignored,
        tensors pair by name if they have the same names, and in order if they are as many."""
        assert left.interface is not None and right.interface is not None
        mine, yours = left.interface.structures[call], right.interface.structures[call]
        found = list(differing(mine, yours))
        unlike = [d for d in found if isinstance(d, Difference) and d.kind == "structure"]
        if unlike and "structure" in self.ignore and len(mine.tensors) == len(yours.tensors):
            names = mine.tensors if set(mine.tensors) == set(yours.tensors) else yours.tensors
            values = [d for d in found if isinstance(d, Difference) and d.kind == "values"]
            return [*(replace(d, final=False) for d in unlike), *values, *zip(mine.tensors, names, strict=True)]
        return found

    def outputs(self, call: int, left: Side, right: Side, differences: list[Difference]) -> Iterator[Pair]:
        """The outputs of a call that stand in the same place on both sides; what differs is added."""
        for found in self.compared(call, left, right):
            if isinstance(found, Difference):
                prefix = SECOND if call else ""
                differences.append(replace(found, text=f"{prefix}{found.text}"))
            else:
                mine, yours = (returned_root(name, call) for name in found)
                yield mine, left[mine], right[yours]

    def states(self, left: Side, right: Side, differences: list[Difference]) -> Iterator[Pair]:
        """What calls leave changed, by name. An argument that one side leaves alone is on that side what it was."""
        assert left.interface is not None and right.interface is not None
        mine, yours = ({(s.whose, s.name, s.call): s for s in side.interface.states}    # type: ignore[union-attr]
                       for side in (left, right))
        for key in dict.fromkeys((*mine, *yours)):
            whose, name, call = key
            root = state_root(name, call)
            nodes = [side[found[key].root] if key in found else _untouched(left, side, whose, name, call)
                     for side, found in ((left, mine), (right, yours))]
            if nodes[0] is not None and nodes[1] is not None:
                if whose != "module" or nodes[0].shape == nodes[1].shape:
                    yield root, nodes[0], nodes[1]
            elif whose != "module":
                side, other = SIDES if nodes[0] is not None else SIDES[::-1]
                differences.append(Difference("state", f"{root} is a tensor on the {side} and not on the {other}"))

    def reach(self, left: Side, right: Side, pairs: list[Pair]) -> str:
        """For how many calls an answer holds: for all, unless the second one reads what the first one left."""
        for number, side in enumerate((left, right)):
            if side.interface is None or self.calls == 1:
                continue
            if side.interface.moving:
                return FIRST_TWO
            later = {nodes[number] for name, *nodes in pairs
                     if name.startswith(SECOND) or name.endswith(state_root("", 1))}
            for node in reversed(side.graph.nodes):
                if node in later:
                    later.update(node.inputs)
            if any(node.name in side.interface.left_behind for node in later):
                return FIRST_TWO
        return ""


def state_names(found: Recorded | Graph, names: Mapping[str, str]) -> frozenset[str]:
    """The names of what a program's own call leaves changed, in the words of the other side."""
    if isinstance(found, Graph):
        return frozenset()
    return frozenset(translated(state.name, names) for state in found.interface.states if state.whose == "module")


def namesakes(left: Graph, right: Graph) -> dict[str, str]:
    """What the left calls the right's weights: one of a name that only the right has is the left's that holds the same
    numbers, where that can be only one."""
    held = [{node.origin.parameter: graph.tensors[node.name] for node in graph.nodes
             if node.is_source and node.origin.parameter} for graph in (left, right)]
    if held[1].keys() <= held[0].keys():
        return {}
    contents = Contents()
    mine, yours = ({name: contents.key(tensor) for name, tensor in side.items()} for side in held)
    often = [Counter(side.values()) for side in (mine, yours)]
    free = {held: name for name, held in mine.items() if name not in yours and often[0][held] == 1}
    return {name: free[held] for name, held in yours.items()
            if name not in mine and held in free and often[1][held] == 1}


def translated(name: str, names: Mapping[str, str]) -> str:
    """The name of a weight, or of its gradient, in other words."""
    weight = name.removesuffix(GRADIENT)
    return names.get(weight, weight) + name[len(weight):]


def leaves_weights(roots: Collection[str], side: Side) -> bool:
    """Whether calls leave other numbers in weights, or gradients at them, that are not among these roots."""
    if side.interface is None:
        return False
    weights = {node.origin.parameter for node in side.graph.sources("parameter")} - {""}
    return any(state.whose == "module" and state.name.removesuffix(GRADIENT) in weights
               and state_root(state.name, state.call) not in roots for state in side.interface.states)


def renaming(left: Side, right: Side) -> Interface:
    """The right's interface with its inputs and arguments under the left's names."""
    assert left.interface is not None and right.interface is not None
    own = right.interface
    pairs = zip(left.graph.sources("input"), right.graph.sources("input"), strict=True)
    names = {b.name: a.name for a, b in pairs if not a.name.startswith(SECOND_INPUT)}
    if set(own.arguments) != set(left.interface.arguments):
        names = dict(zip(own.arguments, left.interface.arguments, strict=False)) | names

    def name(text: str) -> str:
        head = text.partition(".")[0].partition("[")[0]
        return names.get(text) or names.get(head, head) + text[len(head):]

    others = namesakes(left.graph, right.graph)

    def state(found: State) -> State:
        changed = translated(found.name, others) if found.whose == "module" else name(found.name)
        return replace(found, name=changed)

    def shared(what: str) -> str:
        return f"{INPUT}{name(what.removeprefix(INPUT))}" if what.startswith(INPUT) else what

    aliases = {out: frozenset((shared(what), how) for what, how in found) for out, found in own.aliases.items()}
    taken = tuple({name(place): value for place, value in values.items()} for values in own.taken)
    changed = frozenset(map(name, own.changed_in_arguments))
    return replace(
        own, aliases=aliases, states=tuple(map(state, own.states)), taken=taken, changed_in_arguments=changed
    )


INPUT = "the input "


def _untouched(left: Side, side: Side, whose: str, name: str, call: int) -> Node | None:
    """An argument of the left's name on a side that leaves it alone."""
    if whose == "module":
        return None
    name = SECOND_INPUT + name if call and whose == "input" else name.removesuffix(" of the first call")
    pairs = zip(left.graph.sources("input"), side.graph.sources("input"), strict=True)
    return next((own for node, own in pairs if node.name == name), None)


def _of_types(name: str, a: Node, b: Node) -> Iterator[Difference]:
    if a.shape != b.shape:
        yield Difference("shape", f"{spoken(name)} is {a.type} on the left and {b.type} on the right",
                         final=prod(a.shape) != prod(b.shape))
    if _dtype(a) != _dtype(b):
        yield Difference("dtype", f"{spoken(name)} is {_dtype(a)} on the left and {_dtype(b)} on the right")


def _dtype(node: Node) -> str:
    assert isinstance(node.type, TensorType)
    return node.type.dtype


def left_out(left: Interface, right: Interface, roots: set[str]) -> Iterator[str]:
    """What was seen and is not compared, in a sentence each."""
    caches = dict.fromkeys(name for side in (left, right) for found in side.structures for name in found.left_out)
    if caches:
        yield f"Not compared: {_listed(list(caches))}, a key-value cache that the model returns for its own use."
    names: list[str] = []
    for side, own, other in (("left", left, right), ("right", right, left)):
        theirs = set().union(*other.values)
        tensors = [s.name for s in own.states if s.whose == "module" and state_root(s.name, s.call) not in roots]
        plain = [name for name in sorted(own.changed) if name not in theirs]
        names += [f"{side}.{name}" for name in dict.fromkeys((*tensors, *plain, *own.lost))]
    if names:
        yield f"Not compared, as the other side has nothing of this name: {_listed(names)}, which calls change."
    hooks = [f"{side}.{name}" for side, own in (("left", left), ("right", right)) for name in own.hooks]
    if hooks:
        yield f"Not looked at: backward hooks of {_listed(hooks)}."


def _listed(names: list[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


# ----------------------------------------------------------------------------------------------------------- the inputs


def inputs_in_order(left: Graph, right: Graph, *, by_name: bool) -> Graph:
    """The right graph with its inputs, where they are given `by_name`, in the left's order."""
    mine, yours = ({node.name: node for node in graph.sources("input")} for graph in (left, right))
    if not by_name or set(mine) != set(yours):
        return right
    return replace(right, nodes=(*(yours[name] for name in mine),
                                 *(node for node in right.nodes if node.operator != "input")))


def require_same_inputs(left: Graph, right: Graph) -> None:
    """Raise Refused unless both take the same example: else there is nothing to compare."""
    mine, yours = left.sources("input"), right.sources("input")
    if len(mine) != len(yours):
        raise Refused(
            f"left takes {_counted(mine, 'input')} and right takes {_counted(yours, 'input')}; "
            "give both the same example inputs"
        )
    for a, b in zip(mine, yours, strict=True):
        x, y = left.tensors[a.name], right.tensors[b.name]
        for tensor in x, y:
            if has_nan(tensor):
                raise Refused(f"input {a.name} holds NaN, on which no two programs can be compared; give numbers")
        if x.shape != y.shape or x.dtype != y.dtype:
            raise Refused(
                f"input {a.name} is {a.type} on the left and {b.type} on the right; capture both on the same inputs"
            )
        if not agree(x, y, 0.0):
            raise Refused(
                f"input {a.name} has different example values on the two sides; capture both on the same inputs"
            )


def named_alike(left: Graph, right: Graph, differences: list[Difference]) -> list[Pair]:
    """The roots of two graphs of which one is saved, by name if they have the same names, else in order. Raises Refused
    where some outputs share their names, but not all."""
    roots = dict(right.roots)
    names = [name for name, _ in left.roots]
    moved = [name for name, (other, _) in zip(names, right.roots, strict=False) if name in roots and name != other]
    if moved and set(names) != set(roots):
        raise Refused(
            f"left returns {_counted(left.roots, 'output')} and right returns {_counted(right.roots, 'output')}, and "
            f"{moved[0]} stands in another place; give the outputs the same names"
        )
    if len(left.roots) != len(right.roots):
        told = f"left returns {_counted(left.roots, 'output')} and right returns {_counted(right.roots, 'output')}"
        differences.append(Difference("structure", told, final=True))
    others = [(name, roots[name]) for name in names] if moved else right.roots
    return [(name, a, b) for (name, a), (_, b) in zip(left.roots, others, strict=False)]


def _counted(things: Sequence[Node] | Sequence[tuple[str, Node]], word: str) -> str:
    """`2 outputs (logits, loss)`."""
    names = ", ".join(thing.name if isinstance(thing, Node) else thing[0] for thing in things[:_NAMES])
    more = ", …" if len(things) > _NAMES else ""
    number = f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
    return f"{number} ({names}{more})" if things else f"no {word}"
