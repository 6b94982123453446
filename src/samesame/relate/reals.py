"""Where programs stay among the numbers that proofs are about: reals, and integers without end.

Mostly what leaves them shows, as NaN in an output. But a comparison answers NaN with no, a cast cuts it off, 1/∞ is 0,
and int32 wraps around without a word. So two things are said of a verdict. Where a comparison hangs on an operator
that has no value for some numbers, such as √, the verdict holds where it has one: a condition that the report prints.
And the example must keep all of this: if a program makes NaN or ∞ of numbers there, and something later makes a number
of that again, or if an integer wraps around, no proof is about the example, and the values of the draws are all there
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from samesame.evidence import Root, Rung
from samesame.formula.assumptions import Holds, Said, simplified
from samesame.formula.expr import Expr, Leaf, Load
from samesame.formula.scalars import SCALARS
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import closed, is_finite, resolve
from samesame.operators.explain import compared_as
from samesame.operators.pointwise import SYNONYMS
from samesame.operators.table import movements, packet
from samesame.relate.extremes import COMPARING
from samesame.relate.kinds import kind_of
from samesame.relate.propose import Values
from samesame.relate.relating import Relating


def _aten(*names: str) -> frozenset[str]:
    return frozenset(f"aten.{name}" for name in names)


# What the table of functions says of an operator. Torch's softplus has a slope, below 0 which it is negative.
ROWS = {f"aten.{name}": row for name, row in SCALARS.items() if name != "softplus"}
ROWS |= {synonym: ROWS[name] for synonym, name in SYNONYMS.items() if name in ROWS}

NEVER, POSITIVE, NOT_NEGATIVE, ANY = 3, 2, 1, 0      # what is known of the sign of all elements; no sign is enough
ALWAYS = {                                           # operators whose results have a sign whatever they are given
    **{name: NOT_NEGATIVE for name, row in ROWS.items() if row.nonnegative},
    **{name: POSITIVE for name, row in ROWS.items() if row.positive},
    "aten.exp2": POSITIVE,
    **dict.fromkeys(_aten("relu", "square", "sqrt", "softmax", "_softmax", "_safe_softmax", "var", "std", "norm",
                          "linalg_vector_norm", "hypot", "relu6", "hardsigmoid"), NOT_NEGATIVE),
}
OF_ONE = _aten("sum", "mean", "amax", "amin", "max", "min", "prod", "cumsum", "_to_copy", "to", "sqrt", "rsqrt",
               "reciprocal", "log1p") | {            # … the sign of the first argument
    name for name, row in ROWS.items() if row.rising and row.parity == "odd"}
OF_ALL = _aten("mul", "div", "maximum", "minimum")   # … that all arguments have

# Operators that have no value for some reals: of which argument, what sign it must have, and in words.
Demand = tuple[int, int, str]
ENOUGH = {"": NEVER, "> 0": POSITIVE, "≥ 0": NOT_NEGATIVE}


def _in_words(domain: Callable[[Expr], Expr]) -> str:
    words = str(Holds(domain(Load(Leaf("x", (), "real"), ()))))
    return f"numbers{words.removeprefix('x')}" if words.startswith("x >") else f"numbers x where {words}"


PARTIAL: dict[str, Demand] = {
    **{name: (0, ENOUGH[row.enough], _in_words(row.domain)) for name, row in ROWS.items() if row.domain},
    "aten.sqrt": (0, NOT_NEGATIVE, "numbers ≥ 0"),
    "aten.rsqrt": (0, POSITIVE, "numbers > 0"),
    "aten.reciprocal": (0, POSITIVE, "numbers ≠ 0"),
    **dict.fromkeys(_aten("atanh", "logit"), (0, NEVER, "numbers where it has a value")),
    **dict.fromkeys(_aten("linalg_inv_ex", "_linalg_solve_ex", "linalg_solve_triangular"),
                    (0, NEVER, "a matrix that has an inverse")),
    **dict.fromkeys(_aten("linalg_cholesky_ex", "cholesky"), (0, NEVER, "a positive definite matrix")),
    "aten.logdet": (0, NEVER, "a matrix whose determinant is > 0"),
    "aten._linalg_slogdet": (0, NEVER, "a matrix whose determinant is ≠ 0"),
    **dict.fromkeys(_aten("acosh"), (0, NEVER, "numbers ≥ 1")),
    **dict.fromkeys(_aten("div", "true_divide", "remainder", "fmod", "floor_divide"), (1, POSITIVE, "divisors ≠ 0")),
}
CHOOSING = _aten("where", "masked_fill", "index_put", "masked_scatter", "scatter")    # may leave out what is no number
FILLING = CHOOSING | _aten("full", "full_like", "fill", "constant_pad_nd", "index_fill", "new_full")    # may put in −∞
LOGARITHMS = _aten("log", "log2", "log10")
CASTS = _aten("_to_copy", "to") | {"prims.convert_element_type"}
ARITHMETIC = CASTS | _aten("add", "sub", "rsub", "mul", "neg", "square", "abs", "sum", "prod", "cumsum", "cumprod",
                           "mm", "bmm", "matmul", "dot", "addmm", "pow")


# ---------------------------------------------------------------------------------------------------------- conditions


def _demands(graph: Graph, run: Mapping[str, Any], alike: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    """Comparisons, but for those that the other side makes `alike`, each with what it takes to hold or fail: that its
    sides are numbers, and that what these hang on has a value."""
    constants = closed(graph)
    found = [n for n in graph.nodes if packet(n.operator) in COMPARING and n.name not in constants and n not in alike]
    signs = _signs(graph, constants, run) if found else {}
    for node in found:
        if any(_kind(part) == "real" for part in node.inputs):
            yield node, f"{node.operator} at {node.origin.spoken} compares numbers, and no NaN"
        for part in _real_parts(node):
            if part.name not in constants and (words := _demand(part, signs)):
                yield node, f"{part.operator} at {part.origin.spoken} is given {words}: a comparison hangs on it"


def _alike(relating: Relating, mine: Graph, yours: Graph) -> Iterator[Node]:
    """The comparisons of one side that are one with a comparison of the other."""
    term, equal = relating.joint.term, relating.joint.egraph.equal
    others = [n for n in yours.nodes if packet(n.operator) in COMPARING]
    return (
        node for node in mine.nodes if packet(node.operator) in COMPARING
        and any(n.operator == node.operator and equal(term[node], term[n]) for n in others)
    )


def _real_parts(comparison: Node) -> Iterator[Node]:
    """The operators that a comparison's sides are made of, as far back as they are real."""
    found, waiting = set[Node](), [n for n in comparison.inputs if _kind(n) == "real"]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            yield node
            waiting += [n for n in node.inputs if _kind(n) == "real"]


def _kind(node: Node) -> str:
    return kind_of(node.type.dtype) if isinstance(node.type, TensorType) else "several"


def _demand(node: Node, signs: Mapping[Node, int]) -> str:
    """What a partial operator must be given, in words; none if it always is, or has a value for every number."""
    place, needed, words = PARTIAL.get(packet(node.operator), (0, ANY, ""))
    if packet(node.operator) == "aten.pow" and isinstance(exponent := node.args[1], int | float):
        whole = float(exponent).is_integer()
        needed = POSITIVE if exponent < 0 else ANY if whole else NOT_NEGATIVE
        words = "numbers ≠ 0" if whole else f"numbers {'>' if exponent < 0 else '≥'} 0"
    return words if needed and _sign_of(node.args[place], signs) < needed else ""


def _signs(graph: Graph, constants: frozenset[str], run: Mapping[str, Any]) -> dict[Node, int]:
    """What the operators alone say of the signs of a graph's tensors."""
    found: dict[Node, int] = {}
    for node in graph.nodes:
        held = run.get(node.name) if node.name in constants else None
        if isinstance(held, torch.Tensor):
            found[node] = _sign_of(held.double().min().item(), found) if held.numel() and not held.is_complex() else ANY
        else:
            found[node] = max(ALWAYS.get(packet(node.operator), ANY), _sign_by_arguments(node, found))
    return found


def _sign_of(value: Any, known: Mapping[Node, int]) -> int:
    if isinstance(value, int | float):
        return POSITIVE if value > 0 else NOT_NEGATIVE if value == 0 else ANY
    return known.get(value, ANY) if isinstance(value, Node) else ANY


def _sign_by_arguments(node: Node, known: Mapping[Node, int]) -> int:
    name = packet(node.operator)
    if name == "aten.softplus":
        slopes = node.args[1:]                        # and where it is a line
        return POSITIVE if not node.kwargs and all(_sign_of(n, known) == POSITIVE for n in slopes) else ANY
    if name in movements():
        return min((known[part] for part in node.inputs), default=ANY)
    signs = [_sign_of(part, known) for part in node.args[:2]]
    if name in OF_ONE:
        return signs[0]
    if name in ("aten.mul", "aten.pow") and (node.args[0] is node.args[1] or node.args[1] == 2):
        return max(NOT_NEGATIVE, signs[0])
    if name in OF_ALL or name == "aten.pow":
        return min(signs)
    if name == "aten.add" and not node.kwargs and min(signs) >= NOT_NEGATIVE:
        return max(signs)
    return max(signs) if name in ("aten.clamp", "aten.clamp_min") and len(signs) > 1 else ANY


# ------------------------------------------------------------------------------------------------------- the example


def _breaks(graph: Graph, run: Mapping[str, Any]) -> Iterator[tuple[Node, str]]:
    """Where the program leaves the numbers that proofs are about on the values of a run, and comes back to them."""
    constants = closed(graph)
    makers: dict[Node, Node] = {}                     # nodes that hold what is no number, and what made it
    finite: dict[Node, bool] = {}
    for node in graph.nodes:
        moves = packet(node.operator) in movements() - FILLING
        if node.is_source and node.operator == "parameter":
            finite[node] = is_finite(graph.tensors[node.name])
            continue
        if moves and all(finite.get(n) for n in node.inputs):         # as what it moves, which may be a large weight
            finite[node] = True
            continue
        value = run.get(node.name)
        finite[node] = _finite(value)
        if node.is_source or node.name in constants or not isinstance(value, torch.Tensor):
            continue
        if _wraps(node, run):
            yield node, f"{node.operator} at {node.origin.spoken} wraps around"
        broken = next((makers[n] for n in node.inputs if n in makers), None)
        chooses = moves or packet(node.operator) in CHOOSING | movements()
        if broken is not None and not chooses and _swallows(value, [(n, run.get(n.name)) for n in node.inputs], makers):
            yield node, f"{broken.operator} at {broken.origin.spoken} has no value, and {node.operator} makes one of it"
        elif not finite[node] and broken is not None:
            makers[node] = broken
        elif not finite[node] and all(finite[n] for n in node.inputs) and not _fills(node, run):
            makers[node] = node


def _finite(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) or is_finite(value)


def _swallows(value: torch.Tensor, given: Iterable[tuple[Node, Any]], makers: Mapping[Node, Node]) -> bool:
    """Is a result a number where an argument of its own shape is none, or everywhere?"""
    return any(
        bool((value.isfinite() & ~x.isfinite()).any()) if x.shape == value.shape else _finite(value)
        for n, x in given if n in makers
    )


def _fills(node: Node, run: Mapping[str, Any]) -> bool:
    """Does it put in −∞ that it was told, or is it the logarithm of a mask of zeros and ones?"""
    if packet(node.operator) in LOGARITHMS:
        value = run[node.inputs[0].name]
        return bool(((value == 0) | (value == 1)).all())
    return packet(node.operator) in FILLING


def _wraps(node: Node, run: Mapping[str, Any]) -> bool:
    """Does an integer leave what the dtype holds that it is computed or compared in? Told of results by the same
    operator on float64."""
    if compared_as(node) == "int32":
        return any(bool((run[part.name] != run[part.name].to(torch.int32)).any()) for part in node.inputs)
    dtype = getattr(torch, node.type.dtype) if isinstance(node.type, TensorType) else None
    if dtype not in (torch.int32, torch.int64) or packet(node.operator) not in ARITHMETIC:
        return False
    alpha = {name: value for name, value in node.kwargs.items() if name == "alpha"}
    args = [_as_real(run[part.name]) if isinstance(part, Node) else part for part in node.args]
    exact = args[0] if packet(node.operator) in CASTS else resolve(node.operator)(*args, **alpha)
    held = torch.iinfo(dtype)
    return bool(((exact <= float(held.min) - 1) | (exact >= float(held.max) + 1)).any())


def _as_real(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and not value.is_complex() else value


# ------------------------------------------------------------------------------------------------------- the verdict


def qualified(
    roots: Iterable[Root], relating: Relating, graphs: tuple[Graph, Graph], values: tuple[Values, Values]
) -> list[Root]:
    """Roots with what their evidence takes for granted; where the example does not keep it, they are tested only.
    `graphs` are those of the example, which the values are of."""
    wide = relating.left, relating.right
    said: list[tuple[Node, str]] = []
    broken: list[tuple[Node, str]] = []
    for side in (0, 1):
        alike = set(_alike(relating, wide[side], wide[1 - side]))
        there = {node.name for node in alike}
        said += _demands(graphs[side], values[side][0], {n for n in graphs[side].nodes if n.name in there})
        said += [(node, words) for node in graphs[side].nodes if (words := _held(node))]
        broken += _breaks(graphs[side], values[side][0])
    return [_qualified(root, graphs, said, broken, len(values[0])) for root in roots]


def _qualified(
    root: Root, graphs: tuple[Graph, Graph], said: list[tuple[Node, str]], broken: list[tuple[Node, str]], draws: int
) -> Root:
    if root.evidence.rung < Rung.TESTED or not (said or broken):
        return root
    behind = _behind(graphs[0][root.left]) | _behind(graphs[1][root.right])
    more = (Said("reals", words) for node, words in said if node in behind)
    evidence = replace(root.evidence, conditions=simplified((*root.evidence.conditions, *more)))
    how = next((words for node, words in broken if node in behind), "")
    if how and evidence.rung > Rung.TESTED:
        detail = f"proofs say nothing about the example: there {how}; {draws} draws agree"
        evidence = replace(evidence, rung=Rung.TESTED, method="test", detail=detail)
    return replace(root, evidence=evidence)


def _behind(root: Node) -> set[Node]:
    """A node and all that it depends on."""
    found, waiting = {root}, [root]
    while waiting:
        fresh = [part for part in waiting.pop().inputs if part not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _held(node: Node) -> str:
    """That its dtype holds what a node computes or compares in int32, or casts from reals; nothing for others."""
    if compared_as(node) == "int32":
        return f"int32 holds what is compared in it at {node.origin.spoken}"
    dtype = node.type.dtype if isinstance(node.type, TensorType) else ""
    from_real = packet(node.operator) in CASTS and any(_kind(part) == "real" for part in node.inputs)
    if not (dtype == "int32" and packet(node.operator) in ARITHMETIC and node.inputs) and not (
            from_real and dtype == "int64"):
        return ""
    return f"{dtype} holds what is {'cast to' if from_real else 'computed in'} it at {node.origin.spoken}"
