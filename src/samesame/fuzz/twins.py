"""Twins: an equal program, spelled otherwise.

A program that writes nothing goes through the e-graph (`terms`), whose rules each carry a label. In programs that write
in place single statements are respelled: a write in place as a copy of what was computed aside, and back. A twin is as
exact as the weakest label on the way to it; compiled or not, it must do what the original does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from samesame.egraph import Rule
from samesame.fuzz.program import Line, Program, Ref, Step, run_step
from samesame.fuzz.terms import Twin, is_pure, rewritten

MOST = 4                     # respelled statements in a twin

Namer = Callable[[], str]
Values = dict[str, torch.Tensor]
Respelling = Callable[[Step, Values, Namer], Sequence[Step] | None]


def twin_of(program: Program, dice: random.Random, learnt: Sequence[Rule] = ()) -> Twin | None:
    """A twin that dice choose; None where no rule applies, nor one of those `learnt` elsewhere."""
    found = rewritten(program, dice, learnt) if is_pure(program) else None
    if found is None:
        return respelled(program, dice)
    again = respelled(found.program, dice) if dice.random() < 0.3 else None
    return replace(again, rules=found.rules + again.rules, exact=found.exact) if again else found


def respelled(program: Program, dice: random.Random) -> Twin | None:
    """A twin by a few respelled statements; None where none can be."""
    places = list(program.sites())
    dice.shuffle(places)
    chosen: dict[int, tuple[str, Sequence[Step]]] = {}
    numbers = iter(range(1 << 30))
    for position, values in (place for place in places if place[0] < len(program.steps)):
        step = program.steps[position]
        assert isinstance(step, Step)
        ways = ((name, way(step, values, lambda: f"w{next(numbers)}")) for name, way in shuffled(RESPELLINGS, dice))
        found = next(((name, steps) for name, steps in ways if steps is not None), None)
        if found is not None and len(chosen) < MOST:
            chosen[position] = found
    if not chosen:
        return None
    steps: list[Line] = []
    for position, line in enumerate(program.steps):
        steps += chosen[position][1] if position in chosen else [line]
    return Twin(replace(program, steps=tuple(steps)), tuple(dict.fromkeys(name for name, _ in chosen.values())), True)


def shuffled(table: dict[str, Respelling], dice: random.Random) -> list[tuple[str, Respelling]]:
    return dice.sample(list(table.items()), len(table))


def _tensor(step: Step, values: Values) -> torch.Tensor | None:
    """The first argument."""
    return values.get(step.args[0].name) if step.args and isinstance(step.args[0], Ref) else None


def _out_of_place(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """a.f_(b) = a.copy_(f(a, b))."""
    pure = OUT_OF_PLACE.get(step.call)
    if step.results or pure is None or _tensor(step, values) is None:
        return None
    name = fresh()
    return [Step((name,), pure, step.args, step.kwargs), Step((), ".copy_", (step.args[0], Ref(name)))]


def _in_place(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """f(a, b) = clone(a).f_(b), where f gives what it takes: the same dtype and shape."""
    tensor = _tensor(step, values)
    if step.call not in IN_PLACE or tensor is None or step.unpacked or len(step.results) != 1:
        return None
    result = run_step(step, values)
    if (result.dtype, result.shape) != (tensor.dtype, tensor.shape):
        return None
    copy = Step(step.results, "torch.clone", (step.args[0],), {"memory_format": torch.contiguous_format})
    return [copy, Step((), IN_PLACE[step.call], (Ref(step.results[0]), *step.args[1:]), step.kwargs)]


def _copied_first(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """f(a, …) = f(clone(a), …), where f makes memory of its own."""
    if not step.results or step.call not in IN_PLACE or _tensor(step, values) is None:
        return None
    name = fresh()
    return [Step((name,), "torch.clone", (step.args[0],)), replace(step, args=(Ref(name), *step.args[1:]))]


def _number_as_tensor(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """a.f_(2) = a.f_(tensor(2)), of the dtype of a."""
    tensor, number = _tensor(step, values), step.args[1] if len(step.args) == 2 else None
    if step.call not in (".add_", ".sub_", ".mul_") or tensor is None or step.kwargs:
        return None
    if type(number) not in (int, float):
        return None
    if tensor.dtype == torch.bool or tensor.dim() == 0 or torch.tensor(number, dtype=tensor.dtype).item() != number:
        return None
    name = fresh()
    made = Step((name,), "torch.tensor", (number,), {"dtype": tensor.dtype})
    return [made, replace(step, args=(step.args[0], Ref(name)))]


FUNCTIONS = "add sub mul neg abs clamp logical_not logical_xor index_fill index_copy masked_fill"
IN_PLACE = {f"torch.{name}": f".{name}_" for name in FUNCTIONS.split(" ")}
OUT_OF_PLACE = {written: pure for pure, written in IN_PLACE.items()} | {
    ".zero_": "torch.zeros_like", ".relu_": "torch.relu",
}  # fmt: skip
RESPELLINGS: dict[str, Respelling] = {
    "a.f_(b) = a.copy_(f(a, b))": _out_of_place,
    "f(a, b) = clone(a).f_(b)": _in_place,
    "f(a) = f(clone a)": _copied_first,
    "a.f_(2) = a.f_(tensor 2)": _number_as_tensor,
}
