"""What a later launch is told of the tensors that earlier ones leave: integers, and which elements are −∞.

A kernel is lifted with the elements that it reads taken as finite. Where earlier launches leave a tensor with elements
of −∞ at places that are known (`infinities.py`), it is lifted with just that: an element is a number of which nothing
is known where the condition holds, and −∞ elsewhere, so that what becomes of it is decided as with a mask's scores.
Whoever puts the launches together looks that the tensor is as it was told. An infinity that a launch reads and was not
told of leaves open what the one before stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from samesame.formula.binders import replaced
from samesame.formula.expr import Expr, Load, NegInf, Unsupported, walk
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.values import element_at
from samesame.kernels.formulas.defined import may_be_an_infinity
from samesame.kernels.front import layout_of, memories_in, passed_of
from samesame.kernels.indices import integers
from samesame.kernels.launch import Launch, Memory
from samesame.kernels.tiles.memory import offset_of
from samesame.lift.compose import held_before, made_in
from samesame.lift.configurations import ways
from samesame.lift.infinities import parted
from samesame.lift.written import Lifted, as_given


def made_before(captured: Any, recorded: Any, lifted: Lifted) -> dict[str, Tensor]:
    """What the integer tensors of a launch hold before it, by name, as far as that is known."""
    first = {call: found[0] for call, found in lifted.items()}
    made = made_in(held_before(captured, recorded, first), captured, recorded)
    return {name: whole for name, whole in made.items() if whole.kind == "int"}


def with_infinities(launch: Launch, captured: Any, recorded: Any, lifted: Lifted) -> Launch:
    """The launch with what is known of infinities in its tensors, and with what earlier ones need of the integers that
    say where these are. Nothing is told by integers that have another tensor's name in the launch."""
    told = infinities_before(captured, recorded, lifted)
    if not told:
        return launch
    ranges, given = given_before(captured, recorded, lifted)
    memories = {one.name: one for one in launch.arguments.values() if isinstance(one, Memory)}
    own = {name: memory for name, memory in memories.items() if name in given}
    others = (memories.keys() | launch.arguments.keys()) - own.keys()
    told = {name: shown for name, shown in told.items() if others.isdisjoint(names_in(shown))}
    names = {name for shown in told.values() for name in names_in(shown)}

    def with_shown(one: Any) -> Any:
        known = isinstance(one, Memory) and one.name in told
        return replace(one, shown=over_line(told[one.name], own)) if known else one

    arguments = {parameter: with_shown(one) for parameter, one in launch.arguments.items()}
    ranges = {f"{name}*" if name in own else name: ends for name, ends in ranges.items() if name in names}
    return replace(launch, arguments=arguments, told=told, ranges=ranges)


def names_in(condition: Expr) -> set[str]:
    return {e.leaf.name for e in walk(condition) if isinstance(e, Load)}


def over_line(condition: Expr, memories: Mapping[str, Memory]) -> Expr:
    """The condition as a kernel reads these tensors: by how far behind its pointer an element lies."""
    lines: dict[Expr, Expr] = {}
    for e in walk(condition):
        if isinstance(e, Load) and e.leaf.name in memories:
            memory = memories[e.leaf.name]
            lines[e] = element_at(memory, offset_of(memory, e.indices))
    return integers.tidied(replaced(condition, lines))


def infinities_before(captured: Any, recorded: Any, lifted: Lifted) -> dict[str, Expr]:
    """Where the tensors of a launch have elements that are not −∞, by name, as far as that is known and the same in
    whichever configurations earlier launches run."""
    formulas = (f.expr[1] for found in lifted.values() for one in found for f in one.formulas if f.expr)
    if not any(isinstance(e, NegInf) for formula in formulas for e in walk(formula)):
        return {}
    before = {call: found for call, found in lifted.items() if call != recorded.call}
    given = {name for name, _ in captured.inputs}
    views = {one.name: one.view for one in passed_of(recorded, captured).values()}
    found: list[dict[str, Expr]] = []
    try:
        for way in ways(before):
            made = made_in(held_before(captured, recorded, way), captured, recorded)
            all_parted = {name: parted(whole, layout_of(name, views[name]), given) for name, whole in made.items()}
            found.append({name: one.shown for name, one in all_parted.items() if one is not None})
    except Unsupported:
        return {}  # of too many
    return {name: shown for name, shown in found[0].items() if all(other.get(name) is shown for other in found)}


def given_before(captured: Any, recorded: Any, lifted: Lifted) -> tuple[dict[str, tuple[Expr, Expr]], set[str]]:
    """What earlier launches take inputs to lie in, by their names, and which ones a launch has as they were given."""
    ranges: dict[str, tuple[Expr, Expr]] = {}
    for one, names in as_given(captured, lifted):
        if one.call == recorded.call:
            return ranges, names
        known = lifted[one.call][0].ranges.items()
        ranges |= {leaf.removesuffix("*"): ends for leaf, ends in known if leaf.removesuffix("*") in names}
    return ranges, set()


def hold_infinities(captured: Any, lifted: Lifted) -> None:
    """An infinity that a kernel stores on purpose is a value where nothing reads it that is not told of it: whatever
    else is lifted takes the elements that it reads for finite."""
    places = [place for place, step in enumerate(captured.steps) if hasattr(step, "variants")]
    for call, place in enumerate(places):
        later = captured.steps[place + 1 :]
        read = {memory for step in later for memory in taken_as_finite(step, captured, lifted)}
        views = {one.name: one.view for one in passed_of(captured.steps[place].variants[0], captured).values()}
        for kernel in lifted.get(call, ()):
            infinite = [f for f in kernel.formulas if f.expr and may_be_an_infinity(f.expr[1])]
            again = next((f.tensor for f in infinite if f.tensor in views and views[f.tensor].memory in read), None)
            for value in (o for o in kernel.obligations if o.name == "value" and again is not None):
                value.state, value.detail = "undecided", f"{again} may hold an infinity, and is read later"


def taken_as_finite(step: Any, captured: Any, lifted: Lifted) -> set[int]:
    """The memories that a step touches, but for those of which a launch is told where they hold infinities, by
    whichever name and in whichever configuration."""
    variants = getattr(step, "variants", ())
    kernels = lifted.get(variants[0].call, ()) if variants else ()
    if not any(kernel.told for kernel in kernels):
        return memories_in(step)
    passed = [one for launch in variants for one in passed_of(launch, captured).values()]
    untold = {one.view.memory for one in passed if not all(one.name in kernel.told for kernel in kernels)}
    return memories_in(step) & untold
