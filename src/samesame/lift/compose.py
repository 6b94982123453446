"""What a whole wrapper returns: the formulas of its kernels, and what the host does between them, put together.

Each memory holds a formula. A kernel's launch replaces those of its outputs; a host operator (a sum over partial
results) is applied by its meaning. The example tensors with values are the inputs, and stay leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samesame.formula.expr import Expr, Load, Unsupported, const, le, rebuild, substitute
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.lift.execution.values import undefined_in
from samesame.lift.front import layout_of, passed_of
from samesame.lift.indices import integers
from samesame.lift.indices.solver import Prover
from samesame.lift.launch import Memory
from samesame.lift.tiles.memory import along_line, is_contiguous, offset_of
from samesame.lift.verdict import KernelVerdict
from samesame.operators import meaning_of

Held = dict[int, tuple[Memory, Tensor]]  # by the number of a memory: how the tensor lies in it, and its formula


def inputs_of(captured: Any, ranges: Mapping[str, tuple[Expr, Expr]]) -> dict[str, tuple[Any, Tensor]]:
    """The example tensors with values, as leaves; integer ones with the range that is assumed of them."""
    found: dict[str, tuple[Any, Tensor]] = {}
    for name, view in captured.inputs:
        layout = layout_of(name, view)
        found[name] = view, leaf(name, view.shape, layout.kind, ranges.get(f"{name}*"))
    return found


def composed(
    captured: Any, lifted: Mapping[int, KernelVerdict], inputs: Mapping[str, tuple[Any, Tensor]]
) -> list[Tensor]:
    """The formulas of what the wrapper returned. `lifted` are the verdicts of its launches by their place in the host's
    order. Raises Unsupported where a step has no formula."""
    held: Held = {view.memory: (layout_of(name, view), whole) for name, (view, whole) in inputs.items()}
    call = 0
    for step in captured.steps:
        if hasattr(step, "variants"):
            launched(step.variants[0], lifted[call], held, captured)
            call += 1
        else:
            host_step(step, held)
    return [seen(view, held) for _, view in captured.outputs]


def launched(launch: Any, verdict: KernelVerdict, held: Held, captured: Any) -> None:
    """The formulas of a kernel's outputs, over what its arguments hold."""
    views = {one.name: one.view for one in passed_of(launch, captured).values()}
    if not verdict.formulas or verdict.unsupported or any(f.expr is None for f in verdict.formulas):
        raise Unsupported(f"{verdict.kernel} has no formula")
    before = {name: seen(view, held) if view.memory in held else None for name, view in views.items()}
    for name in verdict.counts:
        if not counts(before[name]):
            raise Unsupported(f"{verdict.kernel} is right only where no element of {name} is below 1")
    for formula in verdict.formulas:
        indices, expr = formula.expr
        if expr.free - frozenset(indices) or undefined_in(expr):
            raise Unsupported(f"{verdict.kernel} has no formula for {formula.tensor} that holds for every program")
        whole = with_tensors(expr, before)
        view = views[formula.tensor]
        if view.offset != 0 or not is_whole(view, captured.memories[view.memory]):
            raise Unsupported(f"{verdict.kernel} writes a part of {formula.tensor}'s memory")
        result = Tensor(
            tuple(view.shape), lambda *i, e=whole, v=indices: substitute(e, dict(zip(v, i, strict=True))), whole.kind
        )
        held[view.memory] = layout_of(formula.tensor, view), result


def counts(whole: Tensor | None) -> bool:
    """Whether every element is shown to be at least 1."""
    if whole is None:
        return False
    _, element = whole.element()
    goal = integers.less(0, integers.tidied(element)) if element.kind == "int" else le(1, element)
    return Prover().proves((), goal)


def is_whole(view: Any, memory: Any) -> bool:
    """Whether a view has all the elements of its memory, each once."""
    count: Expr = const(1)
    for n in view.shape:
        count = integers.times_(count, integers.tidied(const(n)))
    return count is integers.tidied(const(memory.elements)) and is_packed(view)


def is_packed(view: Any) -> bool:
    """Whether the strides, sorted, are those of dimensions that lie in one line."""
    pairs = zip(view.strides, view.shape, strict=True)
    left = [(integers.tidied(const(s)), integers.tidied(const(n))) for s, n in pairs if n != 1]
    expected: Expr = const(1)
    while left:
        here = next(((s, n) for s, n in left if s is expected), None)
        if here is None:
            return False
        left.remove(here)
        expected = integers.times_(expected, here[1])
    return True


def with_tensors(expr: Expr, tensors: Mapping[str, Tensor | None]) -> Expr:
    """The expression with formulas in place of the tensors it loads from."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            if isinstance(e, Load) and tensors.get(e.leaf.name) is not None:
                memo[e] = tensors[e.leaf.name][tuple(map(go, e.indices))]  # type: ignore[index]
            elif isinstance(e, Load) and e.leaf.name.endswith("*"):
                raise Unsupported(f"{e.leaf.name[:-1]} is read as one line, not by its own indices")
            else:
                memo[e] = rebuild(e, go)
        return memo[e]

    return go(expr)


def seen(view: Any, held: Held) -> Tensor:
    """A view of a memory as a formula tensor."""
    if view.memory not in held:
        raise Unsupported("a tensor that nobody has written to is read")
    layout, whole = held[view.memory]
    if tuple(view.shape) == layout.shape and tuple(view.strides) == layout.strides and view.offset == 0:
        return whole
    if not is_contiguous(layout) or view.offset != 0:
        raise Unsupported(f"{layout.name} is seen through a view of another layout")
    other = layout_of(layout.name, view)

    def at(*i: Expr) -> Expr:
        return whole[along_line(layout, integers.tidied(offset_of(other, tuple(map(integers.tidied, i)))))]

    return tensor(tuple(view.shape), at, whole.kind)


def host_step(step: Any, held: Held) -> None:
    """A tensor operator of the host, by its meaning."""
    meaning = meaning_of(step.operator)
    if meaning is None:
        raise Unsupported(f"the host applies {step.operator}, which has no formula")

    def given(argument: Any) -> Any:
        if hasattr(argument, "strides"):
            return seen(argument, held)
        return type(argument)(map(given, argument)) if isinstance(argument, tuple | list) else argument

    result = meaning(*map(given, step.args), **{name: given(value) for name, value in step.kwargs.items()})
    for view, whole in zip(step.results, result if isinstance(result, tuple) else (result,), strict=True):
        held[view.memory] = layout_of("", view), whole
