"""Whether a kernel is a PyTorch function: the reference's meaning, and the claim that both are equal.

The reference is recorded like any program; its graph over size symbols (`capture.family`) gives one formula for each
output. Its symbols are the sizes of the launch, tensor by tensor; a size that the reference holds to a number is held
to it on both sides. Then the claim is the same as everywhere: `prove_tensors_equal`. Where that does not prove it, both
are worked out on random numbers, and a difference is a counterexample.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
import torch

from samesame.capture import capture
from samesame.capture.sizes.family import Family, family
from samesame.capture.sizes.following import Followings, follow
from samesame.evidence import Refused
from samesame.formula.assumptions import Assumption, Said, simplified
from samesame.formula.binders import rebuilt
from samesame.formula.cases import prove_by_cases
from samesame.formula.effort import WORK, Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    ZERO,
    Add,
    Compare,
    Expr,
    Fn,
    Fold,
    Lambda,
    Load,
    Opaque,
    Size,
    Unsupported,
    Where,
    and_,
    const,
    index,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.looked_at import broken
from samesame.formula.polynomials import polynomial
from samesame.formula.scalars import ROUNDING
from samesame.formula.show import unicode_tensor
from samesame.formula.sizes import canonical, replaced, symbols, value_at
from samesame.formula.tensor import Dim, Tensor, leaf, tensor
from samesame.graph import Graph, Node, at
from samesame.kernels.formulas.present import presentable, remainder_in
from samesame.kernels.host.launch import View, by_every_name
from samesame.kernels.indices import integers
from samesame.kernels.launch import with_sizes
from samesame.kernels.stated import FORMULAS, Sum
from samesame.lift.doubles import equal_in_doubles
from samesame.lift.draws import SEEDS, Held, drawn, has_zeros, sizes_to_try
from samesame.lift.edges import at_edges_equal
from samesame.lift.folded import bodies_equal
from samesame.lift.halves import in_parts_equal
from samesame.lift.inhabited import without_met
from samesame.lift.joined import FEW, SEVERAL, in_one_range, in_places, opened, prover_of, written_out
from samesame.lift.numberless import without_a_number
from samesame.lift.numerics import by_numpy
from samesame.lift.parameters import taken_by
from samesame.lift.sigmoids import equal_with_sigmoids_turned
from samesame.lift.tables import divided_by_tables_equal
from samesame.lift.terms import Inputs, Terms, asked_by, asked_of_places, divisors, least_assumed, slack, steps
from samesame.lift.unfolded import unfold
from samesame.operators import explain
from samesame.operators.ideal import is_guarded
from samesame.operators.numbers import constant
from samesame.operators.one_to_one import elements_distinct
from samesame.operators.opaque import kind_of_type
from samesame.operators.pointwise import tanh

BUDGET = Budget(seconds=10.0, solver=1000 * WORK)
DRAWS = 3  # at the example's sizes, before a second proof is tried
SECONDS = 2.0  # for a difference
LONGEST = 240  # characters of a formula in a sentence


@dataclass
class Comparison:
    """`state` is same, different or undecided; `guarded` if the reference has operators that guard against extremes."""

    state: str
    detail: str = ""
    counterexample: dict[str, Any] | None = None
    held: dict[str, int] = field(default_factory=dict)  # sizes that the reference holds to a number
    conditions: tuple[Assumption, ...] = ()
    guarded: bool = False


@dataclass(frozen=True)
class Launched:
    """What a launch gives: formulas over its inputs, for the sizes of which conditions are assumed. A difference is
    looked for at sizes around the ends of `tiles`, if there are any, for which more is `kept`, and on integers that are
    as `data` says."""

    inputs: Inputs
    outputs: Sequence[Tensor]
    example: Mapping[str, int]
    assumed: Sequence[Expr] = ()
    tiles: Sequence[int] = ()
    kept: Sequence[Expr] = ()
    data: Mapping[str, Held] = field(default_factory=dict)
    sums: Sequence[Sum] = ()  # limits on sums of integers' elements
    held_by: Callable[[str], torch.Tensor | None] = lambda _: None  # what a tensor holds in the example, if known
    parameters: Mapping[str, Dim] = field(default_factory=dict)  # the launch function's own numbers


def compare_with(reference: Callable[..., Any], launched: Launched, held: Mapping[str, int]) -> Comparison:
    """Compare what a launch returns with what the reference returns on the same inputs; some sizes are held to numbers
    already. Raises Refused where it returns no tensor."""
    if not launched.outputs:
        raise Refused("the launch function returns no tensor to compare; let it return what the kernel writes")
    examples = {
        name: example_tensor(view, whole, launched.example, seed, partial(launched.held_by, name))
        for seed, (name, (view, whole)) in enumerate(launched.inputs.items())
    }
    taken = taken_by(reference, examples, by_every_name(launched.parameters, launched.example))
    as_given = with_numbers_as_sizes(reference, taken, launched)
    unfolded = with_single_sizes(*as_given)
    if unfolded[1] is as_given[1]:
        return compared_on(*as_given, held)
    try:
        answer = compared_on(*unfolded, held)
    except Refused:                                        # it cannot take tensors that are put together
        return compared_on(*as_given, held)
    whole = compared_on(*as_given, held) if answer.state == "undecided" else answer       # whole, it may be shorter
    return answer if whole.state == "undecided" else whole


def compared_on(
    reference: Callable[..., Any], tensors: Mapping[str, torch.Tensor], launched: Launched, held: Mapping[str, int]
) -> Comparison:
    """The comparison with a reference that takes these tensors."""
    graph = capture(reference, tensors, name="reference")

    def alike(given: Any) -> tuple[Graph, Graph]:
        return (capture(reference, given, name="reference", again=False),) * 2

    def asked() -> tuple[Followings, Followings]:
        return (follow(reference, tensors, graph),) * 2

    inputs = {name: launched.inputs[name] for name in tensors}
    kinds = {(name, d): canonical(n) for name, (view, _) in inputs.items() for d, n in enumerate(view.shape)}
    within, divided = asked_of_places(launched.assumed, inputs), divisors(launched.assumed, inputs)
    found = family(reference, tensors, alike, (graph, graph),
                   tied=True, follow=asked, within=within, kinds=kinds, divided=divided)
    if found.lost:  # it may decide on any size, in a way that nobody sees
        found = Family((graph, graph), (), found.lost, ())
    answer = compared_at(held, {}, launched, found)
    numbers, longer = {**written_in(launched), **held}, least_of(found, launched)
    for numbered, least in ((held, longer), (numbers, {}), (numbers, longer)):
        if answer.state == "undecided" and (least or numbered != held):
            answer = compared_at(numbered, least, launched, found)
    answer.guarded = any(is_guarded(node.operator) for node in graph.nodes)
    if answer.state == "same" and without_a_number(graph):
        return replace(answer, state="undecided", detail="an element of the reference is no number on the example")
    return answer


def with_numbers_as_sizes(
    reference: Callable[..., Any], taken: Mapping[str, Any], launched: Launched
) -> tuple[Callable[..., Any], dict[str, torch.Tensor], Launched]:
    """The reference, as one that takes tensors alone: a number that it takes is how long one is that it is given, or
    what the launch holds it to."""
    numbers = {name: launched.parameters.get(name, Size(name, 2)) for name, n in taken.items() if isinstance(n, int)}
    if not numbers:
        return reference, dict(taken), launched
    held = {name: n for name, n in numbers.items() if isinstance(n, int)}

    def of_tensors(**given: torch.Tensor) -> Any:
        return reference(**held, **{name: len(x) if name in numbers else x for name, x in given.items()})

    rows = {name: View(-1, (n,), (1,), 0, "float32") for name, n in numbers.items() if name not in held}
    inputs = {**launched.inputs, **{name: (view, leaf(name, view.shape)) for name, view in rows.items()}}
    tensors = {name: torch.zeros(x) if name in numbers else x for name, x in taken.items() if name not in held}
    return of_tensors, tensors, replace(launched, inputs=inputs)


def with_single_sizes(
    reference: Callable[..., Any], tensors: Mapping[str, torch.Tensor], launched: Launched
) -> tuple[Callable[..., Any], Mapping[str, torch.Tensor], Launched]:
    """The reference, as one of tensors whose dimensions are single sizes."""
    mark = "_part"
    while any(mark in name for name in launched.inputs):
        mark = f"_{mark}"
    parts = {name: unfold(name, launched.inputs[name][1], given, launched.example, mark)
             for name, given in tensors.items()}
    if all(whole.formulas.keys() == {name} and whole.examples[name] is tensors[name] for name, whole in parts.items()):
        return reference, tensors, launched

    def of_parts(**given: torch.Tensor) -> Any:
        return reference(**{name: whole.joined(given) for name, whole in parts.items()})

    dtypes = {part: launched.inputs[name][0].dtype for name, whole in parts.items() for part in whole.formulas}
    formulas = {part: formula for whole in parts.values() for part, formula in whole.formulas.items()}
    views = {part: View(-1, formula.shape, (), 0, dtypes[part]) for part, formula in formulas.items()}
    inputs = {**launched.inputs, **{part: (views[part], formula) for part, formula in formulas.items()}}
    examples = {part: held for whole in parts.values() for part, held in whole.examples.items()}
    return of_parts, examples, replace(launched, inputs=inputs)


def written_in(launched: Launched) -> dict[str, int]:
    """Sizes of what the launch returns that no tensor has which it is given, such as how much is padded: a reference
    can only have them as the numbers of the example."""
    of_inputs = {s.name for view, _ in launched.inputs.values() for n in view.shape for s in symbols(n)}
    of_outputs = {s.name for x in launched.outputs for n in (*x.shape, x.element()[1]) for s in symbols(n)}
    return {name: launched.example[name] for name in sorted(of_outputs - of_inputs) if name in launched.example}


def least_of(found: Family, launched: Launched) -> dict[str, int]:
    """Sizes below which the reference has tensors without elements, as a window does not fit."""
    raised: dict[str, int] = {}
    for v in found.varying:
        n = launched.inputs[v.places[0][0]][0].shape[v.places[0][1]]
        if isinstance(n, Size) and v.step == 1 and n.minimum < v.symbol.minimum < v.value:
            raised[n.name] = v.symbol.minimum
    return raised


def compared_at(
    held: Mapping[str, int], least: Mapping[str, int], launched: Launched, found: Family
) -> Comparison:
    """The comparison with the reference over its sizes, some of the launch's held to numbers, others no less than one.
    """
    inputs, outputs, example = launched.inputs, launched.outputs, launched.example
    known = least_assumed(launched.assumed)
    longer = {name: max(known.get(name, 0), least.get(name, 0)) for name in known | dict(least)}
    terms = Terms({**held}, longer)
    steps(terms, found.varying, inputs, launched.assumed)
    sizes = sizes_of(found, inputs, example, terms)
    slack(terms, launched.assumed)
    others = terms.whole
    symbolic = at(at(found.graphs[0], sizes), others)
    if others:
        inputs = {name: (view, holding(whole, others)) for name, (view, whole) in inputs.items()}
        outputs = [holding(x, others) for x in outputs]
    apart = {name: one.among for name, one in launched.data.items() if one.distinct}
    among = {name: partial(stands, *one, others) for name, one in apart.items() if one is not None}
    with elements_distinct(apart.keys() - among.keys(), among):
        wanted = meanings(symbolic, inputs)
    if len(wanted) != len(outputs):
        return Comparison("different", f"the launch returns {len(outputs)} tensors, the reference {len(wanted)}")
    named = named_in_shapes(launched.outputs, wanted, example)
    if not named.items() <= terms.held.items():
        return compared_at({**terms.held, **named}, least, launched, found)
    conditions = [with_sizes(condition, terms.held) for condition in (*launched.assumed, *launched.kept)]
    conditions += [integers.at_most(n, Size(name, 2)) for name, n in longer.items() if name not in terms.held]
    free = {name: n for name, n in example.items() if name not in terms.held}
    tried = list(sizes_to_try(free, conditions, launched.tiles)) if launched.tiles else [free]
    dtypes = {name: str(view.dtype).removeprefix("torch.") for name, (view, _) in inputs.items()}
    data = {name: one.at(others) for name, one in launched.data.items()}
    sums = [one.at(others) for one in launched.sums]
    tries = Tries([terms.values({**one, **terms.held}) for one in tried], data, dtypes, sums)
    assumed = [with_sizes(condition, others) for condition in launched.assumed]
    pairs = enumerate(zip(outputs, wanted, strict=True))
    answers = [equal(k, x, y, tries, assumed, terms.made) for k, (x, y) in pairs]
    worst = next((a for state in ("different", "undecided") for a in answers if a.state == state), answers[0])
    worst.held = terms.held
    if worst.counterexample is not None:
        worst.counterexample["sizes"] = terms.launched(worst.counterexample["sizes"])
    limits = (f"{name} ≥ {n}" for name, n in least.items() if name not in terms.held and n > known.get(name, 0))
    decides = asked_by(found, sizes, terms, assumed)
    said = (Said("sizes", words) for words in (*limits, *decides))
    own = (c.changed(at=terms.made) for a in answers for c in a.conditions)
    worst.conditions = simplified((*said, *own))
    return worst if worst.state != "same" else kept(worst, launched, {**example, **tries.sizes[0]})


def stands(sign: str, bound: Dim, sizes: Mapping[str, Dim], element: Expr) -> Expr:
    """That an element stands in this sign to a bound, with others in place of some sizes."""
    return FORMULAS[sign](element, with_sizes(const(bound), sizes))


def kept(answer: Comparison, launched: Launched, sizes: Mapping[str, int]) -> Comparison:
    """The answer, if the launch's own tensors keep what it takes for granted: else there is none."""
    for one in answer.conditions:
        held = {name: launched.held_by(name) for name in one.names if name in launched.inputs}
        values = {name: value.double().numpy() if value.is_floating_point() else value.numpy()
                  for name, value in held.items() if value is not None}
        if places := broken(one, values, sizes):
            detail = f"a proof takes for granted that {one}, and the launch's own tensors break that {places}"
            return replace(answer, state="undecided", detail=detail, conditions=())
    return answer


def named_in_shapes(outputs: Sequence[Tensor], wanted: Sequence[Tensor], example: Mapping[str, int]) -> dict[str, int]:
    """Sizes of what the launch returns for which the reference has a number, the one of the example."""
    pairs = [pair for x, y in zip(outputs, wanted, strict=True) for pair in zip(x.shape, y.shape, strict=False)]
    sizes = [(n, number) for n, number in pairs if isinstance(n, Expr) and isinstance(number, int)]
    told = [n for n, number in sizes if value_at(n, example) == number]
    return {s.name: example[s.name] for n in told for s in symbols(n)}


def example_tensor(
    view: Any, whole: Tensor, example: Mapping[str, int], seed: int, held_by: Callable[[], Any]
) -> torch.Tensor:
    """Some data of the example's shape, in double precision; integers as the launch has them, or where that cannot be
    looked at, within the range that is assumed of them."""
    shape = [value_at(n, example) for n in view.shape]
    generator = torch.Generator().manual_seed(seed)
    dtype = getattr(torch, str(view.dtype).removeprefix("torch."))
    if whole.kind == "real":
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
    if whole.kind == "bool":
        return torch.randint(0, 2, shape, generator=generator).bool()
    bounds = next((e.leaf.bounds for e in walk(whole.element()[1]) if isinstance(e, Load)), None)
    held: torch.Tensor | None = held_by()
    if held is not None and list(held.shape) == shape and held.dtype == dtype:
        return held.clone()
    low, high = (0, 7) if bounds is None else (value_at(end, example) for end in bounds)
    return torch.randint(low, high + 1, shape, generator=generator).to(dtype)


def sizes_of(found: Family, inputs: Inputs, example: Mapping[str, int], terms: Terms) -> dict[str, Dim]:
    """What the family's symbols are in sizes of the launch; those that are numbers in the family are held."""
    sizes: dict[str, Dim] = {}
    varying: set[tuple[str, int]] = set()
    for v in found.varying:
        places = [inputs[name][0].shape[d] for name, d in v.places]
        written = terms.sizes.get(getattr(places[0], "name", ""))
        if len(set(places)) == 1 and (v.step == 1 or written is not None):
            sizes[v.symbol.name] = canonical(places[0]) if v.step == 1 else next(iter(symbols(written)))
            varying |= set(v.places)
        else:
            sizes[v.symbol.name] = v.value // v.step
    taken = {node.name for node in found.graphs[0].nodes if node.operator == "input"}
    for name, (view, _) in inputs.items():
        for d, n in enumerate(view.shape):
            if name in taken and (name, d) not in varying and isinstance(n, Expr):
                terms.held |= {s.name: example[s.name] for s in symbols(n)}
    return sizes


def meanings(graph: Graph, inputs: Inputs) -> list[Tensor]:
    """The formulas of a graph's roots over the given leaves. Raises Unsupported."""
    known: dict[Node, Any] = {}
    for node in graph.nodes:
        if node.operator == "input":
            known[node] = inputs[node.name][1]
        elif node.operator == "constant":
            known[node] = number(graph.tensors[node.name], node)
        elif node.operator.startswith("aten.empty") and not isinstance(node.type, tuple):
            name = f"what nobody has written to in the reference, {len(known)}"
            known[node] = leaf(name, node.shape, kind_of_type(node.type))
        else:
            known[node] = explain(node, known.__getitem__)
    return [known[root] for _, root in graph.roots]


def number(value: torch.Tensor, node: Node) -> Tensor:
    """A constant of the reference: one number everywhere, or a table of a few, each in its place."""
    flat = value.flatten()
    if flat.numel() and bool((flat == flat[0]).all()):
        return Tensor(node.shape, lambda *_: written_as(flat[0]), written_as(flat[0]).kind)
    if not 0 < flat.numel() <= FEW or tuple(value.shape) != tuple(node.shape):
        raise Unsupported(f"the reference uses the constant {node.name}, a table of numbers")
    *others, last = np.ndindex(*value.shape)

    def at(*i: Expr) -> Expr:
        found = written_as(value[last])
        for place in others:
            here = and_(*(integers.equal(const(v), n) for v, n in zip(i, place, strict=True)))
            found = where(here, written_as(value[place]), found)
        return found

    return tensor(node.shape, at, written_as(value[last]).kind)


def written_as(element: torch.Tensor) -> Expr:
    item = element.item()
    return constant(item) if isinstance(item, float) else const(item)


# ----------------------------------------------------------------------------------------------------------- the claim


def equal(
    number_: int, left: Tensor, right: Tensor, tries: Tries, assumed: Sequence[Expr], made: Mapping[str, Dim]
) -> Comparison:
    """Whether output `number_` of the launch and of the reference are equal, where the assumed conditions hold. `made`
    has what the symbols that sizes are written in are in the launch's own sizes, for people."""
    wanted = in_one_way(right)
    outcome = divided_by_tables_equal(in_one_way(left), wanted, budget=BUDGET)
    if not isinstance(outcome, Proved):
        outcome = prove_tensors_equal(in_one_way(left), wanted, budget=BUDGET)
    needed: tuple[str, ...] = ()
    if not isinstance(outcome, Proved):
        first = replace(tries, sizes=tries.sizes[:1])
        case = difference(number_, left, right, first, DRAWS)
        if case is None or is_doubtful(case, left, right):
            outcome, needed = proved_in_ranges(outcome, left, right, tries, assumed)
        if case is None and not isinstance(outcome, Proved):
            case = difference(number_, left, right, tries, SEEDS)
        if case is not None and not isinstance(outcome, Proved):
            return Comparison("different", f"output {number_} differs", case)
    if isinstance(outcome, Proved):
        of_data = (Said("data", words) for words in needed)
        taken = without_met(outcome.conditions, prover_of(assumed, tries.data, tries.sums))
        return Comparison("same", f"proved by {outcome.method}: {outcome.detail}", conditions=(*taken, *of_data))
    sides = holding(left, made), holding(right, made)
    return Comparison("undecided", f"output {number_} is not proved: {not_proved(outcome.reason, *sides)}")


def is_doubtful(case: Mapping[str, Any], left: Tensor, right: Tensor) -> bool:
    """Whether a proof may still say that both are the same: where one has no value, or where numbers are rounded to
    whole ones, which what is rounded before may carry over an edge."""
    rounds = any(isinstance(e, Fn) and e.name in ROUNDING for whole in (left, right) for e in walk(whole.element()[1]))
    return "kernel" in case and (rounds or not math.isfinite(case["kernel"]) or not math.isfinite(case["reference"]))


def proved_in_ranges(
    first: NotProved, left: Tensor, right: Tensor, tries: Tries, assumed: Sequence[Expr]
) -> tuple[Proved | NotProved, tuple[str, ...]]:
    """A proof of the two with their tiles joined, or with the places of runs apart, too, and what that needs of data;
    the `first` answer where there is none."""
    told = partial(in_one_range, assumed=assumed, data=tries.data, sums=tries.sums, dtypes=tries.dtypes)
    known = [told(whole) for whole in (left, right)]
    found: Proved | NotProved | None = proved_otherwise(assumed, *(in_one_way(whole) for whole, _ in known))
    apart = in_places(left), in_places(right)
    if found is None and (apart[0] is not left or apart[1] is not right):
        known = [told(whole) for whole in apart]
        found = prove_tensors_equal(*(in_one_way(whole) for whole, _ in known), budget=BUDGET)
    if not isinstance(found, Proved):
        return first, ()
    return found, tuple(condition for _, conditions in known for condition in conditions)


def proved_otherwise(assumed: Sequence[Expr], left: Tensor, right: Tensor) -> Proved | None:
    """A proof of two formulas, by what they fold, with places at the edge in one spelling, as they are, by parts of
    rows, with what folds over a few elements written out, case by case, or with products of numbers rounded."""
    by_cases = partial(prove_by_cases, written=opened, longest=SEVERAL)
    in_parts = partial(in_parts_equal, assumed=assumed)
    for prove in (bodies_equal, at_edges_equal, prove_tensors_equal, in_parts, written_out_equal, by_cases,
                  equal_with_sigmoids_turned, equal_in_doubles):
        found = prove(left, right, budget=BUDGET)
        if isinstance(found, Proved):
            return found
    return None


def written_out_equal(left: Tensor, right: Tensor, *, budget: Budget) -> Proved | NotProved:
    return prove_tensors_equal(written_out(left), written_out(right), budget=budget)


def not_proved(reason: str, left: Tensor, right: Tensor) -> str:
    """What is compared, in the names of tensors; and why there is no proof, where that is more than a rest."""
    sides = (shortened(unicode_tensor(who, presented(x))) for who, x in (("kernel", left), ("reference", right)))
    why = [] if reason.startswith("left over") else [reason[:120]]
    return "; ".join((*why, *sides))


def presented(whole: Tensor) -> Tensor:
    indices, body = whole.element()
    shown = presentable(body)
    return Tensor(whole.shape, lambda *i: substitute(shown, dict(zip(indices, i, strict=True))), whole.kind)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def in_one_way(whole: Tensor) -> Tensor:
    """The formula with the first k where x[k] = max x as the argmax of x, which is what that is, and the hyperbolic
    tangent, remainders and what is rounded to zero as torch's operators have them."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = shorter(rebuild(e, go))
        return memo[e]

    def shorter(e: Expr) -> Expr:
        match e:
            case Fn("tanh", x):
                return tanh(x)
            case Add() if e.kind == "int":
                return remainder_in(polynomial(e)) or e
            case Opaque("trunc", None, (Lambda((), x),), (), _):
                return Fn("trunc", x)
            case Opaque("aten.argmax", _, (Lambda((v,), Where(Compare("=", a, b), then, otherwise)),), (), _):
                for x, best in ((a, b), (b, a)):
                    ones = then is const(1) and otherwise is ZERO
                    if ones and isinstance(best, Fold) and best.monoid == "max" and len(best.bound) == 1:
                        (w,) = best.bound
                        if w.extent is v.extent and substitute(best.body, {w: v}) is x:
                            return Opaque("aten.argmax", e.attributes, (Lambda((v,), x),), (), "int")
        return e

    return tensor(whole.shape, lambda *i: go(whole[i]), whole.kind)


@dataclass(frozen=True)
class Tries:
    """Where a difference is looked for: at which sizes, the example's first; what integers lie in; dtypes by tensor."""

    sizes: Sequence[Mapping[str, int]]
    data: Mapping[str, Held] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    sums: Sequence[Sum] = ()


def difference(number_: int, left: Tensor, right: Tensor, tries: Tries, draws: int) -> dict[str, Any] | None:
    """An element in which both differ on numbers that are drawn: a few at the example's sizes, then at others in a
    limited time, at all of them before any is drawn for once more."""
    until = time.thread_time() + SECONDS
    own, *others = tries.sizes
    first, more = product(range(DRAWS), [own]), product(range(DRAWS, draws), [own])
    for seed, sizes in chain(first, product(range(draws), others), more):
        if time.thread_time() > until and (seed >= DRAWS or sizes is not own):
            return None
        values = drawn((left, right), sizes, seed, tries.data, tries.dtypes, tries.sums)
        case = differs_at(number_, left, right, sizes, values, numbers=has_zeros(seed))
        if case is not None and ("shapes" not in case or sizes is own):
            return case  # other shapes at other sizes: the reference has numbers that the launch calls sizes
    return None


def differs_at(
    number_: int, left: Tensor, right: Tensor, sizes: Mapping[str, int], values: Mapping[str, Any], numbers: bool
) -> dict[str, Any] | None:
    """An element in which both differ at these sizes and values; where both are `numbers`, if that is asked."""
    try:
        with np.errstate(all="ignore"):
            x, y = (np.asarray(evaluate(t, dict(values), sizes, by_numpy), dtype=np.float64) for t in (left, right))
    except (Unsupported, KeyError, IndexError):
        return None
    found: dict[str, Any] = {"sizes": dict(sizes), "output": number_}
    if x.shape != y.shape:
        return {**found, "shapes": [list(x.shape), list(y.shape)]}
    apart = ~np.isclose(x, y, rtol=1e-7, atol=1e-9, equal_nan=True)
    apart &= (np.isfinite(x) & np.isfinite(y)) | (not numbers)
    if not apart.any():
        return None
    place = tuple(map(int, np.argwhere(apart)[0]))
    told = {"element": list(place), "kernel": float(x[place]), "reference": float(y[place])}
    return {**found, **told, "drawn": values}


# --------------------------------------------------------------------------------------------------- sizes as numbers


def holding(whole: Tensor, sizes: Mapping[str, Dim]) -> Tensor:
    """A formula tensor with numbers, or other sizes, in place of some sizes."""
    numbers: dict[str, Dim] = dict(sizes)
    shape = tuple(replaced(n, numbers) for n in whole.shape)
    indices, body = whole.element()
    new = tuple(index(n) for n in shape)
    fixed = held(substitute(body, dict(zip(indices, new, strict=True))), numbers)
    return Tensor(shape, lambda *i: substitute(fixed, dict(zip(new, i, strict=True))), whole.kind)


def held(expr: Expr, sizes: Mapping[str, Dim]) -> Expr:
    """An expression with numbers in place of some sizes, also where they are the range of a bound index."""
    match expr:
        case Size(name, _):
            return const(sizes.get(name, expr))
        case Load(leaf, indices):
            shape = tuple(replaced(n, sizes) for n in leaf.shape)
            bounds = leaf.bounds and (replaced(leaf.bounds[0], sizes), replaced(leaf.bounds[1], sizes))
            return Load(replace(leaf, shape=shape, bounds=bounds), tuple(held(i, sizes) for i in indices))
    return rebuilt(expr, lambda e: held(e, sizes))
