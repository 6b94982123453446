"""check: do two programs compute the same function?

Capture both, run both on a few draws, let values propose and proofs decide, and answer root by root. `same` means
that every root is related with evidence; `different` that some draw tells them apart, and then the report says
where they part and which edit would rejoin them; `undecided` that nothing told them apart and not everything could
be established.
"""

from __future__ import annotations

import inspect
import math
import platform
import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

import torch

from samesame.capture import capture
from samesame.diagnose import diagnose, effect_of
from samesame.evidence import Evidence, Numeric, Refused, Relation, Root, Rung, Verdict
from samesame.execute import execute
from samesame.graph import Graph, Node
from samesame.operators.defaults import with_defaults
from samesame.relate.draws import LABELS, Draw, draw
from samesame.relate.parameters import InputRelation
from samesame.relate.propose import Values, agree, difference, reals
from samesame.relate.prove import Prover
from samesame.relate.relating import Progress, Relating, closed_values, input_relation, relate

# Differences relative to a root's largest magnitude, in float64. Rounding alone stays far below AGREES; where the
# sides hold constants that differ by their own rounding (a table stored in float32, say), only what is above
# ROUNDED refutes.
AGREES = 1e-9
REFUTES = 1e-8
ROUNDED = 1e-6
_DRAWS = 3
_NAMES = 8


def check(
    left: Any,
    right: Any,
    inputs: Any,
    *,
    seed: int = 0,
    timeout: float | None = None,
    how: str = "record",
    progress: Progress | None = None,
) -> Verdict:
    """Decide whether `left` and `right` compute the same function of `inputs`.

    `left` and `right` are each a module, a module class or factory without arguments, a function over tensors, or a
    captured `Graph`; `inputs` is a tuple or dict of example tensors, or a function that returns one. `how` is the
    way of capture: "record", "export" or "export+decompose". `timeout` (seconds) bounds the proving;
    `progress(done, total, place)` is called as it goes. Raises SamesameError (Refused) where a program cannot be
    captured or the two cannot be compared.
    """
    clock = _Clock()
    deadline = None if timeout is None else time.monotonic() + timeout
    with clock.measure("capture"):
        example = inputs() if callable(inputs) else inputs
        mine, yours = _graph(left, example, how, "left"), _graph(right, example, how, "right")
        graphs = mine, in_order_of(mine, yours, by_name=isinstance(example, Mapping))
        _require_comparable(*graphs)
    with clock.measure("execute"):
        relation = input_relation(*graphs)
        taken, values = take_draws(graphs, relation, seed)
    with clock.measure("prove"):
        prover = Prover(seed=seed, deadline=deadline)
        constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
        relating = relate(*graphs, relation, values, constants, prover, progress)
        roots = compare_roots(relating, values)
    verdict = _verdict(roots, relating)
    with clock.measure("diagnose"):
        if verdict.verdict == "different":
            verdict.effect = effect_of(graphs, values)
            verdict.divergence, verdict.diagnosis = diagnose(relating, values, taken, deadline)
    with clock.measure("numeric"):
        verdict.numeric = _numeric(graphs, taken, values)
    verdict.timing = clock.seconds | {"proofs": prover.seconds}
    verdict.versions, verdict.seed = _versions(), seed
    verdict.left, verdict.right = _title(left), _title(right)
    return verdict


@dataclass(slots=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, stage: str) -> Any:
        started = time.monotonic()
        yield
        self.seconds[stage] = time.monotonic() - started


# -------------------------------------------------------------------------------------------------------- the two sides


def _graph(program: Any, example: Any, how: str, name: str) -> Graph:
    graph = program if isinstance(program, Graph) else capture(_instance(program), example, how=how, name=name)
    return with_defaults(graph)


def _instance(program: Any) -> Any:
    """The module or function to capture: a class, or a function without parameters, is called to make it."""
    if isinstance(program, torch.nn.Module):
        return program
    if inspect.isclass(program):
        return program()
    if inspect.isfunction(program) and not inspect.signature(program).parameters:
        return program()
    return program


def in_order_of(left: Graph, right: Graph, *, by_name: bool) -> Graph:
    """The right graph with what it shares by name with the left in the left's order: outputs, and, where they are given
    `by_name`, inputs. Raises Refused where some outputs share their names, but not all.
    """
    roots, nodes = dict(right.roots), right.nodes
    names = [name for name, _ in left.roots]
    moved = [name for name, (other, _) in zip(names, right.roots, strict=False) if name in roots and name != other]
    if moved and set(names) != set(roots):
        raise Refused(
            f"left returns {_counted(left.roots, 'output')} and right returns {_counted(right.roots, 'output')}, and "
            f"{moved[0]} stands in another place; give the outputs the same names"
        )
    mine, yours = ({node.name: node for node in graph.sources("input")} for graph in (left, right))
    if by_name and set(mine) == set(yours):
        nodes = (*(yours[name] for name in mine), *(node for node in nodes if node.operator != "input"))
    return replace(right, nodes=nodes, roots=tuple((name, roots[name]) for name in names) if moved else right.roots)


def _require_comparable(left: Graph, right: Graph) -> None:
    """Same inputs, same number of outputs and same shapes; else there is nothing to compare."""
    mine, yours = left.sources("input"), right.sources("input")
    if len(mine) != len(yours):
        raise Refused(
            f"left takes {_counted(mine, 'input')} and right takes {_counted(yours, 'input')}; "
            "give both the same example inputs"
        )
    for a, b in zip(mine, yours, strict=True):
        x, y = left.tensors[a.name], right.tensors[b.name]
        for tensor in x, y:
            if _has_nan(tensor):
                raise Refused(f"input {a.name} holds NaN, on which no two programs can be compared; give numbers")
        if x.shape != y.shape or x.dtype != y.dtype:
            raise Refused(
                f"input {a.name} is {a.type} on the left and {b.type} on the right; capture both on the same inputs"
            )
        if not agree(x, y, 0.0):
            raise Refused(
                f"input {a.name} has different example values on the two sides; capture both on the same inputs"
            )
    if len(left.roots) != len(right.roots):
        raise Refused(
            f"left returns {_counted(left.roots, 'output')} and right returns {_counted(right.roots, 'output')}; "
            "make both return the same tensors"
        )
    for (name, a), (_, b) in zip(left.roots, right.roots, strict=True):
        if a.shape != b.shape:
            raise Refused(
                f"output {name} is {a.type} on the left and {b.type} on the right; "
                "make both return the same shapes, since outputs are compared element by element"
            )


def _counted(things: tuple[Node, ...] | tuple[tuple[str, Node], ...], word: str) -> str:
    """`2 outputs (logits, loss)`."""
    names = ", ".join(thing.name if isinstance(thing, Node) else thing[0] for thing in things[:_NAMES])
    more = ", …" if len(things) > _NAMES else ""
    number = f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
    return f"{number} ({names}{more})" if things else f"no {word}"


def take_draws(
    graphs: tuple[Graph, Graph], relation: InputRelation, seed: int
) -> tuple[list[Draw], tuple[Values, Values]]:
    """The draws, and every node's float64 value on each, for both sides.

    The first is the example, on which neither side may compute NaN. A draw on which either does has left a
    program's domain and is passed over; one near the example then stands in.
    """
    taken: list[Draw] = []
    runs: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for label in LABELS:
        if label == LABELS[-1] and len(taken) >= _DRAWS:
            break
        fresh = draw(label, *graphs, relation.layouts, seed=seed)
        both = execute(graphs[0], fresh.left), execute(graphs[1], fresh.right)
        if any(_has_nan(both[k][root.name]) for k in (0, 1) for _, root in graphs[k].roots):
            if not taken:
                _refuse_nan(graphs, both)
            continue
        taken.append(fresh)
        runs[0].append(both[0])
        runs[1].append(both[1])
    return taken, runs


def _refuse_nan(graphs: tuple[Graph, Graph], runs: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    """A NaN made by a program on the user's own example is the user's to know about before anything is compared."""
    for side, graph, values in zip(("left", "right"), graphs, runs, strict=True):
        for name, root in graph.roots:
            if _has_nan(values[root.name]):
                first = next(node for node in graph.nodes if _has_nan(values.get(node.name)))
                if first.is_source:
                    raise Refused(f"the {first.operator} {first.name} of {side} holds NaN; give it numbers")
                raise Refused(
                    f"{side} computes NaN in output {name}: {first.operator} makes it first, at {first.origin}; "
                    "give inputs on which it computes numbers"
                )


def _has_nan(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and bool(torch.isnan(value).any())


# ---------------------------------------------------------------------------------------------------------- the verdict


def compare_roots(relating: Relating, values: tuple[Values, Values]) -> list[Root]:
    """Pairwise, root to root: a relation to some other tensor of the other side is not enough."""
    return [
        _root(name, a, b, relating, values)
        for (name, a), (_, b) in zip(relating.left.roots, relating.right.roots, strict=True)
    ]


def _root(name: str, left: Node, right: Node, relating: Relating, values: tuple[Values, Values]) -> Root:
    worst = mean = apart = 0.0
    agreeing = True
    for mine, yours in zip(*values, strict=True):
        x, y = mine[left.name], yours[right.name]
        agreeing = agreeing and agree(x, y, AGREES)
        apart = max(apart, difference(x, y))
        gap = torch.sub(*reals(x, y)).abs()
        gap = gap[torch.isfinite(gap)]
        if difference(x, y) == math.inf:
            worst = mean = math.inf
        elif gap.numel():
            worst, mean = max(worst, float(gap.max())), max(mean, float(gap.mean()))
    unpaired = relating.inputs.unpaired_left or relating.inputs.unpaired_right
    if not agreeing and apart > (ROUNDED if relating.rounded or unpaired else REFUTES):
        told = f"they differ by {apart:.2g} of the largest magnitude, in float64"
        told = told if math.isfinite(apart) else ""
        elsewhere = _output_of(relating.left, left, values[0], right, values[1])
        evidence = Evidence(Rung.REFUTED, "values", detail="; ".join(filter(None, (told, elsewhere))))
    elif not agreeing:
        told = f"they differ by {apart:.2g} of the largest magnitude, perhaps because stored numbers were rounded"
        evidence = Evidence(Rung.UNDECIDED, "values", detail=f"{told}: give both programs in float64 to tell")
    elif 0 in left.shape:
        evidence = Evidence(Rung.PROVED_HERE, "constant", detail="it has no elements")
    else:
        evidence = relating.root_evidence(left, right) or Evidence(
            Rung.UNDECIDED, "values", detail="equal on every draw, and no proof was found"
        )
    return Root(name, left.name, right.name, evidence, worst, mean)


def _output_of(graph: Graph, node: Node, mine: Values, right: Node, yours: Values) -> str:
    """Which of the left's other outputs the right one is, if any: outputs in another order are a common mistake."""
    for name, other in graph.roots:
        if other is not node and all(agree(x[other.name], y[right.name]) for x, y in zip(mine, yours, strict=True)):
            return f"the right's is the left's output {name}: are the outputs in another order?"
    return ""


def _verdict(roots: list[Root], relating: Relating) -> Verdict:
    relations = relating.relations()
    roots = [_resting(root, relating, relations) for root in roots]
    lowest = min((root.evidence.rung for root in roots), default=Rung.UNDECIDED)
    answer = {Rung.REFUTED: "different", Rung.UNDECIDED: "undecided"}.get(lowest, "same")
    verdict = Verdict(answer, lowest, roots, relations)
    verdict.unpaired = _unpaired(relating.inputs)
    verdict.notes = _notes(relating)
    verdict.counts = {
        "relations": len(relations),
        "proofs": relating.prover.proofs,
        "attempts": relating.prover.attempts,
        "by rule": relating.prover.by_rule,
        "by congruence": sum(relation.evidence.method == "congruence" for relation in relations),
        "left operators": sum(not node.is_source for node in relating.left.nodes),
        "right operators": sum(not node.is_source for node in relating.right.nodes),
    }
    return verdict


def _resting(root: Root, relating: Relating, relations: list[Relation]) -> Root:
    """A root that is computed rests on the relations, and is worth no more than the weakest of them."""
    found = root.evidence
    weakest = min((relation.evidence for relation in relations), key=lambda evidence: evidence.rung, default=found)
    given = relating.left[root.left].is_source and relating.right[root.right].is_source
    if given or found.rung <= weakest.rung:
        return root
    tested = weakest.rung is Rung.TESTED
    detail = f"proved from what is tested: {weakest.detail}" if tested else found.detail
    return replace(root, evidence=replace(found, rung=weakest.rung, detail=detail))


def _unpaired(relation: InputRelation) -> list[str]:
    return [f"left {name}" for name in relation.unpaired_left] + [f"right {name}" for name in relation.unpaired_right]


def _notes(relating: Relating) -> list[str]:
    notes = ["Proofs are over the real numbers and unbounded integers; casts are the identity in them."]
    for (name, a), (_, b) in zip(relating.left.roots, relating.right.roots, strict=True):
        if a.type.dtype != b.type.dtype:                                                   # type: ignore[union-attr]
            notes.append(f"Output {name} is {a.type} on the left and {b.type} on the right.")
    if relating.inputs.unpaired_left or relating.inputs.unpaired_right:
        notes.append(
            "Weights without a partner keep their own values; both sides must load the same weights to be compared."
        )
    if relating.inputs.by_name:
        notes.append(
            f"{len(relating.inputs.by_name)} weights have the same values as another and were paired by name and order."
        )
    if relating.rounded:
        left, right = relating.rounded
        notes.append(
            f"A constant of the left ({left.origin}) and one of the right ({right.origin}) differ by rounding only."
        )
    if relating.stopped:
        notes.append(f"Not everything was tried: {relating.stopped}.")
    return notes


# ---------------------------------------------------------------------------------------------------------- the numbers


def _numeric(graphs: tuple[Graph, Graph], taken: list[Draw], values: tuple[Values, Values]) -> list[Numeric]:
    """Each side in its own precision against its own float64 run on the same inputs and weights."""
    own: tuple[list[Any], list[Any]] = (
        [execute(graphs[0], draw.left, precision="own") for draw in taken],
        [execute(graphs[1], draw.right, precision="own") for draw in taken],
    )
    rows = []
    for (name, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True):
        if not values[0][0][a.name].dtype.is_floating_point:
            continue
        errors = [
            max(
                difference(oracle[node.name], run[node.name])
                for oracle, run in zip(values[side], own[side], strict=True)
            )
            for side, node in ((0, a), (1, b))
        ]
        rows.append(Numeric(name, errors[0], errors[1], a.type.dtype, len(taken)))  # type: ignore[union-attr]
    return rows


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("samesame", "torch", "z3-solver", "transformers"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _title(program: Any) -> str:
    if isinstance(program, Graph):
        return program.name
    if isinstance(program, torch.nn.Module):
        return type(program).__name__
    return getattr(program, "__name__", None) or type(program).__name__
