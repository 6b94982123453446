"""What a whole wrapper returns: the formulas of its kernels, and what the host does between them, put together.

Each memory holds a formula. A kernel's launch replaces those of its outputs; a host operator (a sum over partial
results) is applied by its meaning. The example tensors with values are the inputs, and stay leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.formula.binders import rebuilt
from samesame.formula.definite import AboveZero
from samesame.formula.expr import (
    Expr,
    Index,
    Load,
    NegInf,
    Opaque,
    Unsupported,
    and_,
    const,
    index,
    le,
    substitute,
    walk,
    where,
)
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Tensor, elements_of, leaf, tensor
from samesame.graph import Dtype
from samesame.kernels.execution.unsigned import bits_of
from samesame.kernels.execution.values import undefined_in
from samesame.kernels.formulas.defined import Definedness, may_divide_by_nothing
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.front import element_name, is_whole, layout_of, memories_in, passed_of, speaks_of, written_by
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.launch import Memory
from samesame.kernels.stated import Above
from samesame.kernels.tiles.memory import along_line, element, is_contiguous, offset_of
from samesame.kernels.verdict import KernelVerdict
from samesame.lift.infinities import parted
from samesame.operators import meaning_of
from samesame.operators.explain import may_wrap
from samesame.operators.numbers import constant

Held = dict[int, tuple[Memory, Tensor]]  # by the number of a memory: how the tensor lies in it, and its formula


def inputs_of(captured: Any, ranges: Mapping[str, tuple[Expr, Expr]]) -> dict[str, tuple[Any, Tensor]]:
    """The example tensors with values, as leaves: integers with the range that is assumed of them, reals above zero
    where that is stated."""
    found: dict[str, tuple[Any, Tensor]] = {}
    for name, view in captured.inputs:
        if any(isinstance(one, Above) and speaks_of(one, view, captured) for one in captured.contracts):
            found[name] = view, elements_of(AboveZero(name, tuple(view.shape)))
            continue
        found[name] = view, leaf(name, view.shape, layout_of(name, view).kind, ranges.get(f"{name}*"))
    return found


def parts_of(captured: Any, inputs: Mapping[str, tuple[Any, Tensor]]) -> dict[str, tuple[Any, Tensor]]:
    """What other variables of the host have of the example tensors, as slices of a projection, or are filled with, by
    name."""
    held: Held = {view.memory: (lain(name, view), whole) for name, (view, whole) in inputs.items()}
    found: dict[str, tuple[Any, Tensor]] = {}
    for name, view in captured.parts:
        contents = captured.memories[view.memory].contents
        try:
            if view.memory not in held and type(contents) in (int, float):
                held[view.memory] = filled_with(contents, view)
            found[name] = view, seen(view, held)
        except Unsupported:
            continue
    return found


def made_of(captured: Any, inputs: Mapping[str, tuple[Any, Tensor]], taken: Collection[str]) -> dict[str, Tensor]:
    """What inputs that a reference does not take are made of those that it takes, by the launch function's own body, as
    a table of cosines of its angles; without those of which it is not known, and those that may hold an infinity, which
    no kernel's formula counts with. Nothing where one of those that it takes was read before it was changed in place,
    as it is known as it is in the end."""
    given: Held = {inputs[name][0].memory: (lain(name, inputs[name][0]), inputs[name][1]) for name in taken}
    held = dict(given)
    for step in captured.prepared if not captured.changed and not changed_late(captured.prepared, given) else ():
        held |= {view.memory: one for view in step.tensors if (one := filled_whole(view, held, captured)) is not None}
        try:
            host_step(step, held, captured)
        except (Unsupported, Refused):
            for view in step.results:
                held.pop(view.memory, None)
        held |= given
    found: dict[str, Tensor] = {}
    for name, (view, _) in inputs.items():
        if name not in taken and view.memory in held:
            with suppress(Unsupported):
                found[name] = seen(view, held)
    return {name: whole for name, whole in found.items() if not may_be_infinite(whole)}


def changed_late(steps: Sequence[Any], memories: Collection[int]) -> bool:
    """Whether a step writes to one of the memories after another one has read it."""
    read = set[int]()
    for step in steps:
        written = written_by(step)
        if not written.isdisjoint(read.intersection(memories)):
            return True
        read |= {view.memory for view in step.tensors} - written
    return False


def filled_whole(view: Any, held: Held, captured: Any) -> tuple[Memory, Tensor] | None:
    """What is held of a memory that the host has filled with one number, as it makes a mask of ones; None for others,
    and where it is held already."""
    memory = captured.memories[view.memory]
    kinds = (int, float) if getattr(torch, view.dtype).is_floating_point else (int,)
    same = view.dtype == memory.dtype and is_whole(view, memory)
    fills = same and type(memory.contents) in kinds and view.memory not in held
    return filled_with(memory.contents, view) if fills else None


def may_be_infinite(whole: Tensor) -> bool:
    """Whether an element may be an infinity: one stands in the formula, and it is not shown that what becomes of it is
    a number, as the exponential of masked scores is, or their sum where a row has one that is not masked."""
    _, body = whole.element()
    if may_divide_by_nothing(body):
        return True
    if not any(isinstance(e, NegInf) for e in walk(body)):
        return False
    unknown = any(isinstance(e, Opaque) and e.kind == "real" for e in walk(body))
    return unknown or not Definedness(IndexProver()).is_finite(integers.tidied(body), ())


def in_terms_of(whole: Tensor, made: Mapping[str, Tensor]) -> Tensor:
    """The formula with others in place of tensors."""
    indices, body = whole.element()
    told = with_tensors(body, made)
    return tensor(whole.shape, lambda *i: substitute(told, dict(zip(indices, i, strict=True))), whole.kind)


def composed(
    captured: Any, lifted: Mapping[int, KernelVerdict], inputs: Mapping[str, tuple[Any, Tensor]]
) -> list[Tensor]:
    """The formulas of what the wrapper returned. `lifted` are the verdicts of its launches by their place in the host's
    order. Raises Unsupported where a step has no formula."""
    held: Held = {view.memory: (lain(name, view), whole) for name, (view, whole) in inputs.items()}
    call = 0
    for step in captured.steps:
        if hasattr(step, "variants"):
            launched(variant_of(step, lifted[call]), lifted[call], held, captured, inputs)
            call += 1
        else:
            host_step(step, held, captured)
    return [seen(view, held) for _, view in captured.outputs]


def held_before(captured: Any, recorded: Any, lifted: Mapping[int, KernelVerdict]) -> Held:
    """What memories hold before a launch, as far as the steps before it tell for all sizes. `lifted` are the verdicts
    of earlier launches by their number; one that is not verified tells nothing."""
    inputs = inputs_of(captured, {})
    held: Held = {view.memory: (lain(name, view), whole) for name, (view, whole) in inputs.items()}
    for step in captured.steps:
        variants = getattr(step, "variants", ())
        if recorded in variants:
            break
        try:
            if not variants:
                host_step(step, held, captured, bounded)
            elif lifted[variants[0].call].verdict == "verified":
                launched(
                    variant_of(step, lifted[variants[0].call]), lifted[variants[0].call], held, captured, inputs
                )
            else:
                raise Unsupported("a kernel that is not verified")
        except (Unsupported, Refused):
            for memory in memories_in(step):
                held.pop(memory, None)
    return held


def made_in(held: Held, captured: Any, recorded: Any) -> dict[str, Tensor]:
    """What the tensors of a launch hold, by name, as far as that is known."""
    found: dict[str, Tensor] = {}
    for one in passed_of(recorded, captured).values():
        with suppress(Unsupported):
            found[one.name] = seen(one.view, held)
    return found


def launched(
    launch: Any, verdict: KernelVerdict, held: Held, captured: Any, inputs: Mapping[str, tuple[Any, Tensor]]
) -> None:
    """The formulas of a kernel's outputs, over what its arguments hold."""
    for step in launch.before:
        host_step(step, held, captured)
    views = {one.name: one.view for one in passed_of(launch, captured).values()}
    if not verdict.formulas or verdict.unsupported or any(f.expr is None for f in verdict.formulas):
        raise Unsupported(f"{verdict.kernel} has no formula")
    before = {name: seen(view, held) if view.memory in held else None for name, view in views.items()}
    for name, held_ in before.items():
        is_read = f"memory {views[name].memory}" in verdict.reads
        if name in verdict.told:
            before[name] = as_told(verdict, name, held_, layout_of(name, views[name]), inputs)
        elif held_ is not None and is_read and may_be_infinite(held_):
            raise Unsupported(f"{verdict.kernel} reads {name}, which may hold an infinity")
    asked = {e.leaf.name for shown in verdict.told.values() for e in walk(shown) if isinstance(e, Load)}
    before |= {name: inputs[name][1] for name in asked - views.keys()}
    for name in verdict.counts:
        if not counts(before[name]):
            raise Unsupported(f"{verdict.kernel} is right only where no element of {name} is below 1")
    for formula in verdict.formulas:
        indices, expr = formula.expr
        if expr.free - frozenset(indices) or undefined_in(expr):
            raise Unsupported(f"{verdict.kernel} has no formula for {formula.tensor} that holds for every program")
        whole = with_tensors(expr, before)
        view = views[formula.tensor]
        result = Tensor(
            tuple(view.shape), lambda *i, e=whole, v=indices: substitute(e, dict(zip(v, i, strict=True))), whole.kind
        )
        if is_whole(view, captured.memories[view.memory]):
            held[view.memory] = lain(formula.tensor, view), result
        else:
            held[view.memory] = with_part(result, view, *around(view, held, captured))


def as_told(
    verdict: KernelVerdict, name: str, whole: Tensor | None, layout: Memory, inputs: Mapping[str, Any]
) -> Tensor:
    """What a tensor holds where its elements are numbers, which are those that the kernel was told of. Raises
    Unsupported where others are."""
    found = None if whole is None else parted(whole, layout, inputs)
    if found is None or found.shown is not verdict.told[name]:
        raise Unsupported(f"{verdict.kernel} reads {name}, which may hold other infinities than it is lifted with")
    return found.numbers


def around(view: Any, held: Held, captured: Any) -> tuple[Memory, Tensor]:
    """What lies around a part of a memory before it is written: what is known, or was never written. Raises Unsupported
    where it is not known how the whole lies there."""
    memory = captured.memories[view.memory]
    if view.memory in held:
        return held[view.memory]
    whole = next((v for _, v in captured.outputs if v.memory == view.memory and is_whole(v, memory)), None)
    if whole is None or memory.contents is not None:
        raise Unsupported(f"a part of {memory.name}'s memory is written")
    layout = lain(memory.name, whole)
    return layout, leaf(f"what nobody has written to in {memory.name}", whole.shape, layout.kind)


def with_part(part: Tensor, view: Any, layout: Memory, whole: Tensor) -> tuple[Memory, Tensor]:
    """The whole with other elements in one part: a slice along some dimensions, one element along others."""
    own, places = seen_at(view, layout)
    indices = tuple(index(integers.tidied(const(n))) for n in whole.shape)
    values: dict[Index, Expr] = {}
    inside: list[Expr] = []
    for here, place in zip(indices, places, strict=True):
        if not place.free:
            inside.append(integers.equal(here, place))
            continue
        (v, *others) = sorted(place.free, key=own.index)
        told = integers.linear(place, v)
        if others or told is None or told[0] != 1 or v in values:
            raise Unsupported(f"a part of {layout.name} is written that is no slice")
        values[v] = integers.minus(here, told[1])
        inside += [integers.at_least_zero(values[v]), integers.less(values[v], v.extent)]
    if not all(v in values or v.extent is const(1) for v in own):
        raise Unsupported(f"a part of {layout.name} is written that is no slice")
    told_all = where(and_(*inside), part[tuple(values.get(v, const(0)) for v in own)], whole[indices])
    return layout, Tensor(whole.shape, lambda *i: substitute(told_all, dict(zip(indices, i, strict=True))), whole.kind)


def variant_of(step: Any, verdict: KernelVerdict) -> Any:
    """A launch in the configuration that a verdict is of."""
    found = (launch for launch in step.variants if launch.configuration == verdict.configuration)
    return next(found, step.variants[0])


def counts(whole: Tensor | None) -> bool:
    """Whether every element is shown to be at least 1."""
    if whole is None:
        return False
    _, element = whole.element()
    goal = integers.less(0, integers.tidied(element)) if element.kind == "int" else le(1, element)
    return IndexProver().proves((), goal)


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
                memo[e] = rebuilt(e, go)
        return memo[e]

    return go(expr)


def seen(view: Any, held: Held) -> Tensor:
    """A view of a memory as a formula tensor."""
    if view.memory not in held:
        raise Unsupported("a tensor that nobody has written to is read")
    layout, whole = held[view.memory]
    if layout.element != element_name(view.dtype):
        raise Unsupported(f"{layout.name} is seen as another dtype")
    if tuple(view.shape) == layout.shape and tuple(view.strides) == layout.strides and view.offset == layout.base:
        return whole
    indices, found = seen_at(view, layout)

    def at(*i: Expr) -> Expr:
        here = dict(zip(indices, map(integers.tidied, i), strict=True))
        return whole[tuple(integers.tidied(substitute(p, here)) for p in found)]

    return tensor(tuple(view.shape), at, whole.kind)


def seen_at(view: Any, layout: Memory) -> tuple[tuple[Index, ...], tuple[Expr, ...]]:
    """Indices of a view, and where its elements stand in a tensor of the same memory. Raises Unsupported."""
    if layout.element != element_name(view.dtype):
        raise Unsupported(f"{layout.name} is seen as another dtype")
    indices = tuple(index(integers.tidied(const(n))) for n in view.shape)
    ahead = integers.minus(integers.tidied(const(view.offset)), integers.tidied(const(layout.base or 0)))
    offset = integers.plus_(offset_of(layout_of(layout.name, view), indices), ahead)
    place = element(layout, offset, (), Simplifier(IndexProver()))      # as where a projection's halves are taken apart
    if place is None and is_contiguous(layout) and view.offset == layout.base == 0:
        place = along_line(layout, offset)
    if place is None:
        raise Unsupported(f"{layout.name} is seen through a view of another layout")
    return indices, place


def lain(name: str, view: Any) -> Memory:
    """How a tensor lies in its memory, from where in it."""
    return replace(layout_of(name, view), base=view.offset)


Meaning = Callable[..., Any]


def host_step(
    step: Any, held: Held, captured: Any, known: Callable[[Any], Meaning | None] = lambda step: None
) -> None:
    """A tensor operator of the host, by its meaning; what is `known` of one comes first."""
    if step.operator in FILLED:
        return fill(step, held, captured)
    meaning = known(step) or meaning_of(step.operator) or in_place(step, captured)
    if meaning is None and not any(hasattr(argument, "strides") for argument in step.args):
        return None  # random numbers, say: nothing is known of what it makes
    if meaning is None:
        raise Unsupported(f"the host applies {step.operator}, which has no formula")

    if may_wrap(step.operator, (*step.args, *step.kwargs.values()), [view.dtype for view in step.results]):
        raise Unsupported(f"the host computes {step.results[0].dtype} by {step.operator}, which may wrap around")

    def given(argument: Any) -> Any:
        if hasattr(argument, "strides"):
            return seen(argument, held)
        if isinstance(argument, torch.dtype):
            return Dtype(str(argument).removeprefix("torch."))
        return type(argument)(map(given, argument)) if isinstance(argument, tuple | list) else argument

    named = {name: given(value) for name, value in step.kwargs.items() if name not in OF_MEMORY}
    result = meaning(*map(given, step.args), **named)
    for view, whole in zip(step.results, result if isinstance(result, tuple) else (result,), strict=True):
        held[view.memory] = lain("", view), whole
    return None


def in_place(step: Any, captured: Any) -> Meaning | None:
    """Of an operator that writes into its first argument, the whole of a memory: what it makes of it."""
    name, _, overload = step.operator.rpartition(".")
    if not name.endswith("_") or not all(is_whole(v, captured.memories[v.memory]) for v in step.results):
        return None
    return meaning_of(f"{name[:-1]}.{overload}")


OF_MEMORY = ("device", "layout", "pin_memory", "memory_format", "non_blocking")  # they say nothing of values


def fill(step: Any, held: Held, captured: Any) -> None:
    """A whole tensor gets one number, or another tensor's elements."""
    view, *others = step.args
    if not is_whole(view, captured.memories[view.memory]):
        raise Unsupported(f"the host applies {step.operator} to a part of a tensor, which has no formula")
    layout = lain("", view)
    value: Any = others[0] if others else 0
    if hasattr(value, "strides"):
        if value.dtype != view.dtype:
            raise Unsupported(f"{step.operator} of a tensor of another dtype has no formula")
        source = seen(value, held)
        if source.shape != layout.shape or source.kind != layout.kind:
            raise Unsupported(f"{step.operator} of a tensor of another shape or kind has no formula")
        held[view.memory] = layout, source
        return
    held[view.memory] = filled_with(value, view)


def filled_with(value: Any, view: Any) -> tuple[Memory, Tensor]:
    """A tensor with one number in every place."""
    layout = lain("", view)
    number = const(bool(value)) if layout.kind == "bool" else const(value) if layout.kind == "int" else constant(value)
    return layout, tensor(tuple(view.shape), lambda *_: number, layout.kind)


FILLED = ("aten.fill_.Scalar", "aten.zero_.default", "aten.copy_.default")


# ------------------------------------------------------------------------------------------- integers that have an end


def bounded(step: Any) -> Meaning | None:
    """Of an operator that gives positions: its results as leaves of which nothing is known but their range; of one that
    makes integers of floats, or shorter integers of longer ones, not even that."""
    result = -1
    end: Expr = const(0)
    if step.operator.rpartition(".")[0] in POSITIONS:
        result, last = POSITIONS[step.operator.rpartition(".")[0]]
        try:
            end = last(*step.args, **{k: v for k, v in step.kwargs.items() if k not in OF_MEMORY})
        except (IndexError, TypeError):
            return None  # another overload than those of the table
    elif not shortens(step):
        return None

    def meaning(*_: Any, **__: Any) -> tuple[Tensor, ...]:
        whole = []
        for k, view in enumerate(step.results):
            name = f"result {k} of {step.operator} in memory {view.memory}"
            ends = (0, canonical(integers.tidied(end))) if k == result else None
            whole.append(leaf(name, tuple(view.shape), layout_of(name, view).kind, ends))
        return tuple(whole)

    return meaning


def shortens(step: Any) -> bool:
    """Whether integers that an operator gives may be others than those of the formula, as a float or a shorter integer
    does not hold them."""
    given = [layout_of("", v) for v in step.args if hasattr(v, "strides")]
    made = [layout_of("", v) for v in step.results]
    whole = [memory for memory in made if memory.kind == "int"]
    widest = max((bits_of(memory) for memory in given if memory.kind == "int"), default=0)
    return any(memory.kind == "real" for memory in given if whole) or any(bits_of(m) < widest for m in whole)


def in_row(x: Any, dim: Any = -1, *_: Any, **__: Any) -> Expr:
    """The last position in a row of x."""
    if dim is None:
        return integers.minus(reduce(integers.times_, map(integers.tidied, map(const, x.shape)), const(1)), 1)
    return integers.minus(integers.tidied(const(x.shape[dim])), 1)


def in_chosen_row(x: Any, _: Any, dim: Any = -1, *__: Any, **___: Any) -> Expr:
    return in_row(x, dim)


def below(end: Any, *_: Any, **__: Any) -> Expr:
    return integers.minus(integers.tidied(const(end)), 1)


POSITIONS: dict[str, tuple[int, Callable[..., Expr]]] = {  # by operator: which result, and its greatest value
    **{f"aten.{name}": (0, in_row) for name in ("argsort",)},
    **{f"aten.{name}": (0, lambda x, dim=None, *_, **__: in_row(x, dim)) for name in ("argmax", "argmin")},
    **{f"aten.{name}": (1, in_row) for name in ("sort", "max", "min", "median", "mode", "cummax", "cummin")},
    **{f"aten.{name}": (1, in_chosen_row) for name in ("topk", "kthvalue")},
    "aten.randperm": (0, below),
    "aten.multinomial": (0, lambda x, *_, **__: in_row(x)),
}
