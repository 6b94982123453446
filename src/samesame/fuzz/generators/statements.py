"""Statements: programs that view, read, write in place, read again, and return views and inputs.

A compiler turns writes into new values and back into writes where nobody reads the old value any more. Whether somebody
does is what these programs ask: views of views, writes through them, reads before and after, and results that share
memory with inputs and with each other. Loops and branches on Python values stand among them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from samesame.fuzz.generators.operators import Composer
from samesame.fuzz.generators.taste import PLAIN, Taste
from samesame.fuzz.generators.values import any_mood, any_shape, any_tensor
from samesame.fuzz.program import Block, Line, Program, Ref, Step, run_step, without_unused_inputs

DTYPES = ("float32", "float32", "float64", "int64", "int32", "int8", "bool")
Statement = Callable[[Composer], bool]


def generate(dice: random.Random, taste: Taste = PLAIN) -> Program:
    """Three to twenty statements over one or two tensors of one dtype."""
    made = Composer(dice, taste)
    dtype, shape, mood = taste.pick(dice, DTYPES), any_shape(dice) or (3,), any_mood(dice)
    for _ in range(dice.choice((1, 1, 2))):
        made.take(_writable(dice, shape, dtype, mood))
    wanted = dice.choice((3, 4, 5, 6, 8, 12, 20))
    kinds = list(STATEMENTS)
    for _ in range(6 * wanted):
        if len(made.steps) >= wanted:
            break
        STATEMENTS[dice.choices(kinds, [4, 6, 6, 2, 0.1])[0]](made)
    program = made.program()
    names = [name for step in made.steps for name in step.results]
    returned = dict.fromkeys([*program.outputs, *dice.sample(names, min(len(names), 2)), *_inputs_returned(made)])
    steps = _with_control(dice, tuple(made.steps))
    return without_unused_inputs(Program(tuple(made.inputs), steps, tuple(returned)))


def _writable(dice: random.Random, shape: tuple[int, ...], dtype: str, mood: str) -> str:
    """No two elements of it share memory, so that writing has a meaning."""
    while ".expand(" in (text := any_tensor(dice, shape, dtype, mood)):
        continue
    return text


def _inputs_returned(made: Composer) -> list[str]:
    return [given.name for given in made.inputs if made.dice.random() < 0.15]


def _with_control(dice: random.Random, steps: tuple[Step, ...]) -> tuple[Line, ...]:
    """Some of the statements under a loop that runs once or a branch that is taken, if they leave no name undefined;
    a statement that only writes may run twice."""
    if len(steps) < 3 or dice.random() < 0.6:
        return steps
    start = dice.randrange(len(steps) - 1)
    body = steps[start : start + dice.choice((1, 2, 3))]
    writes_only = all(not step.results for step in body)
    head = (
        "for _ in range(2):" if writes_only and dice.random() < 0.7 else dice.choice(("for _ in range(1):", "if True:"))
    )
    return (*steps[:start], Block(head, body), *steps[start + len(body) :])


# ---------------------------------------------------------------------------------------------------------- statements


def _value(made: Composer) -> tuple[Ref, torch.Tensor]:
    name = made.dice.choice(list(made.values))
    return Ref(name), made.values[name]


def _view(made: Composer) -> bool:
    """Another view of a value's memory."""
    ref, value = _value(made)
    dice = made.dice
    if value.dim() == 0:
        return made.apply("torch.unsqueeze", ref, 0)
    dim = dice.randrange(value.dim())
    size = value.shape[dim]
    ways: list[Callable[[], bool]] = [
        lambda: made.apply("torch.transpose", ref, 0, dim),
        lambda: made.apply(".view", ref, -1),
        lambda: made.apply("torch.narrow", ref, dim, *_part(dice, size)),
        lambda: made.apply("[]", ref, (*[slice(None)] * dim, slice(*_bounds(dice, size)))),
        lambda: made.apply("[]", ref, (*[slice(None)] * dim, slice(None, None, 2))),
        lambda: size > 0 and made.apply("torch.select", ref, dim, dice.randrange(size)),
        lambda: made.apply("torch.unsqueeze", ref, dim),
        lambda: made.apply("torch.diagonal", ref) if value.dim() > 1 else made.apply(".expand", ref, 2, *value.shape),
        lambda: made.apply("torch.chunk", ref, 2, dim),
        lambda: made.apply(".unfold", ref, dim, min(2, size), 1),
        lambda: made.apply("torch.movedim", ref, dim, 0),
        lambda: made.apply(".detach", ref),
    ]
    return bool(dice.choice(ways)())


def _part(dice: random.Random, size: int) -> tuple[int, int]:
    start = dice.randrange(size) if size else 0
    return start, dice.randint(0, size - start) if size else 0


def _bounds(dice: random.Random, size: int) -> tuple[int | None, int | None]:
    return dice.choice(((1, None), (None, -1), (None, max(size // 2, 1)), (-2, None), (0, 100)))


def _read(made: Composer) -> bool:
    """A new value from what the memory holds now."""
    ref, value = _value(made)
    other = made.fitting(value) or ref
    dice = made.dice
    number = dice.choice((2, 3, -1)) if not value.is_floating_point() else dice.choice((2, 0.5, -1.5))
    ways = [
        ("torch.add", (ref, other)),
        ("torch.mul", (ref, other)),
        ("torch.sub", (other, ref)) if value.dtype != torch.bool else ("torch.logical_xor", (ref, other)),
        ("torch.mul", (ref, number)) if value.dtype != torch.bool else ("torch.logical_not", (ref,)),
        ("torch.maximum", (ref, other)),
        ("torch.clone", (ref,)),
        ("torch.sum", (ref,)),
        ("torch.cumsum", (ref, 0)) if value.dim() else ("torch.neg", (ref,)),
        ("torch.flip", (ref, (0,))) if value.dim() else ("torch.abs", (ref,)),
        ("torch.where", (Ref(other.name), ref, ref)) if value.dtype == torch.bool else ("torch.minimum", (ref, other)),
        ("torch.roll", (ref, 1)),
        ("torch.cat", ([ref, other],)) if value.dim() else ("torch.stack", ([ref, other],)),
    ]
    call, args = dice.choice(ways)
    return made.apply(call, *args)


def _write(made: Composer) -> bool:
    """Write into memory, through whatever view."""
    ref, value = _value(made)
    if _overlaps(value):
        return False
    other = made.fitting(value)
    dice = made.dice
    same = dice.choice((other, other, 2, 3)) if other is not None else 2
    ways: list[Any] = [  # what needs values of its own makes them when it is chosen
        (".copy_", (ref, other or ref)),
        (".fill_", (ref, 1)),
        (".zero_", (ref,)),
    ]
    if value.dtype != torch.bool:
        ways += [
            (".add_", (ref, same)),
            (".mul_", (ref, same)),
            (".sub_", (ref, same)),
            (".neg_", (ref,)) if value.dtype != torch.uint8 else (".abs_", (ref,)),
            (".clamp_", (ref, 0, 3)),
            (".relu_", (ref,)),
        ]
    else:
        ways += [(".logical_not_", (ref,)), (".logical_xor_", (ref, other or ref))]
    if value.dim() and value.shape[0] > 1:
        ways += [
            lambda: (".index_fill_", (ref, 0, Ref(_index(made, [0])), 1)),
            lambda: (".index_copy_", (ref, 0, Ref(_index(made, [0, 1])), _slice_of(made, ref, 2))),
            lambda: (".masked_fill_", (ref, _mask(made, value), 1)),
            (".t_", (ref,)) if value.dim() == 2 and dice.random() < 0.2 else (".zero_", (ref,)),
        ]
    way = dice.choice(ways)
    call, args = way() if callable(way) else way
    return _statement(made, call, args)


def _overlaps(value: torch.Tensor) -> bool:
    """Whether elements share memory; writing them has no defined order then."""
    places = torch.zeros(tuple(value.shape), dtype=torch.int64)
    for dim, (size, stride) in enumerate(zip(value.shape, value.stride(), strict=True)):
        places += (torch.arange(size) * stride).reshape(-1, *[1] * (value.dim() - dim - 1))
    return len(set(places.flatten().tolist())) < value.numel()


def _statement(made: Composer, call: str, args: tuple[Any, ...]) -> bool:
    """A step without a result; the values after it are what the memory holds then."""
    step = Step((), call, args)
    if call in made.taste.avoid:
        return False
    try:
        run_step(step, made.values)
    except Exception:  # shapes do not fit, or memory overlaps: no step
        return False
    made.steps.append(step)
    return True


def _index(made: Composer, numbers: list[int]) -> str:
    return made.take(f"torch.tensor({numbers})").name


def _slice_of(made: Composer, ref: Ref, length: int) -> Ref:
    """A copy of the first rows, to be written elsewhere."""
    if made.apply("[]", ref, slice(None, length)) and made.apply("torch.clone", Ref(made.steps[-1].results[0])):
        return Ref(made.steps[-1].results[0])
    return ref


def _mask(made: Composer, value: torch.Tensor) -> Ref:
    seed = made.dice.randrange(1000)
    text = f"torch.randint(0, 2, {tuple(value.shape)}, generator=torch.Generator().manual_seed({seed})).bool()"
    return made.take(text)


def _reduce(made: Composer) -> bool:
    ref, value = _value(made)
    call = made.dice.choice(
        ("torch.sum", "torch.amax", "torch.amin", "torch.any", "torch.all", "torch.argmax", "torch.prod")
    )
    return made.apply(call, ref, -1) if value.dim() else made.apply("torch.square", ref)


def _several(made: Composer) -> bool:
    """Operators on lists of tensors, which write one after the other."""
    ref, value = _value(made)
    other = made.fitting(value)
    if other is None or value.dtype == torch.bool or _overlaps(value) or _overlaps(made.values[other.name]):
        return False
    call = made.dice.choice(("torch._foreach_add_", "torch._foreach_mul_", "torch._foreach_sub_"))
    return _statement(made, call, ([ref, other], [other, ref]))


STATEMENTS: dict[str, Statement] = {
    "view": _view,
    "read": _read,
    "write": _write,
    "reduce": _reduce,
    "several": _several,
}
