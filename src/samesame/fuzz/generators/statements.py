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
from samesame.fuzz.generators.values import any_mood, any_number, any_shape, any_tensor
from samesame.fuzz.program import Block, Line, Program, Ref, Step, run_step

DTYPES = ("float32", "float32", "float64", "int64", "int32", "int8", "bool")
Statement = Callable[[Composer], bool]


def generate(dice: random.Random, taste: Taste = PLAIN) -> Program:
    """Four to twenty-four statements over one or two tensors of one dtype."""
    made = Composer(dice, taste)
    dtype, shape, mood = taste.pick(dice, DTYPES), any_shape(dice) or (3,), any_mood(dice)
    for _ in range(dice.choice((1, 1, 2))):
        made.take(_writable(dice, shape, dtype, mood))
    wanted = dice.choice((4, 6, 8, 12, 16, 24))
    for _ in range(6 * wanted):
        if len(made.steps) >= wanted:
            break
        dice.choices(list(STATEMENTS), list(STATEMENTS.values()))[0](made)
    program = made.program()
    returned = dict.fromkeys((*program.outputs, *_inputs_returned(made)))
    steps = _with_control(dice, tuple(made.steps))
    return Program(tuple(made.inputs), steps, tuple(returned)).lean()


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
    twice = writes_only and dice.random() < 0.7
    head = "for _ in range(2):" if twice else dice.choice(("for _ in range(1):", "if True:"))
    return (*steps[:start], Block(head, body), *steps[start + len(body) :])


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
    start = dice.randrange(max(size, 1))
    cut = dice.choice(((1, None), (None, -1), (None, max(size // 2, 1)), (-2, None), (0, 100), (None, None, 2)))
    return made.apply(*dice.choice([
        ("torch.transpose", ref, 0, dim), (".view", ref, -1), ("torch.unsqueeze", ref, dim), (".detach", ref),
        ("torch.narrow", ref, dim, start, dice.randint(0, size - start)),
        ("torch.select", ref, dim, start - size * dice.choice((0, 1))),
        ("[]", ref, (*[slice(None)] * dim, slice(*cut))), ("[]", ref, (*[slice(None)] * dim, slice(None, None, 2))),
        ("torch.diagonal", ref, dice.choice((0, 1, -1))) if value.dim() > 1 else (".expand", ref, 2, *value.shape),
        ("torch.chunk", ref, 2, dim), ("torch.movedim", ref, dim, 0),
        (".unfold", ref, dim, min(2, size), dice.choice((1, 2))),
    ]))  # fmt: skip


def _read(made: Composer) -> bool:
    """A new value from what the memory holds now."""
    ref, value = _value(made)
    dice, other, boolean = made.dice, made.fitting(value) or ref, value.dtype == torch.bool
    ways: list[tuple[Any, ...]] = [
        ("torch.add", ref, other), ("torch.mul", ref, other), ("torch.maximum", ref, other),
        ("torch.clone", ref), ("torch.sum", ref), ("torch.roll", ref, 1),
    ]  # fmt: skip
    if boolean:
        ways += [("torch.logical_xor", ref, other), ("torch.logical_not", ref), ("torch.where", other, ref, ref)]
    else:
        ways += [("torch.sub", other, ref), ("torch.mul", ref, any_number(dice, value)), ("torch.minimum", ref, other)]
    if value.dim():
        ways += [("torch.cumsum", ref, 0), ("torch.flip", ref, (0,)), ("torch.cat", [ref, other])]
    else:
        ways += [("torch.neg", ref), ("torch.abs", ref), ("torch.stack", [ref, other])]
    return made.apply(*dice.choice(ways))


def _write(made: Composer) -> bool:
    """Write into memory, through whatever view."""
    ref, value = _value(made)
    if _overlaps(value):
        return False
    dice, other = made.dice, made.fitting(value)
    same = dice.choice((other or any_number(dice, value), any_number(dice, value)))
    ways: list[tuple[Any, ...]] = [(".copy_", ref, other or ref), (".fill_", ref, 1), (".zero_", ref)]
    if value.dtype == torch.bool:
        ways += [(".logical_not_", ref), (".logical_xor_", ref, other or ref)]
    else:
        ways += [
            (".add_", ref, same), (".mul_", ref, same), (".sub_", ref, same), (".clamp_", ref, 0, 3), (".relu_", ref),
            (".abs_" if value.dtype == torch.uint8 else ".neg_", ref),
        ]  # fmt: skip
    if value.dim() and value.shape[0] > 1:
        ways += [(_filled, ref), (_copied, ref), (_masked, ref, value)]
        ways += [(".t_", ref)] if value.dim() == 2 and dice.random() < 0.2 else []
    call, *args = dice.choice(ways)
    return bool(call(made, *args)) if callable(call) else _statement(made, call, *args)


def _overlaps(value: torch.Tensor) -> bool:
    """Whether elements share memory; writing them has no defined order then."""
    places = torch.zeros(tuple(value.shape), dtype=torch.int64)
    for dim, (size, stride) in enumerate(zip(value.shape, value.stride(), strict=True)):
        places += (torch.arange(size) * stride).reshape(-1, *[1] * (value.dim() - dim - 1))
    return len(set(places.flatten().tolist())) < value.numel()


def _statement(made: Composer, call: str, *args: Any) -> bool:
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


def _filled(made: Composer, ref: Ref) -> bool:
    return _statement(made, ".index_fill_", ref, 0, made.take("torch.tensor([0])"), 1)


def _copied(made: Composer, ref: Ref) -> bool:
    """Rows of it, copied before, written into it the other way round."""
    if not (made.apply("[]", ref, slice(None, 2)) and made.apply("torch.clone", made.newest)):
        return False
    rows = made.newest
    return _statement(made, ".index_copy_", ref, 0, made.take("torch.tensor([1, 0])"), rows)


def _masked(made: Composer, ref: Ref, value: torch.Tensor) -> bool:
    mask = any_tensor(made.dice, tuple(value.shape), "bool")
    return _statement(made, ".masked_fill_", ref, made.take(mask), 1)


def _reduce(made: Composer) -> bool:
    ref, value = _value(made)
    call = made.dice.choice(("sum", "amax", "amin", "any", "all", "argmax", "prod"))
    return made.apply(f"torch.{call}", ref, -1) if value.dim() else made.apply("torch.square", ref)


def _several(made: Composer) -> bool:
    """Operators on lists of tensors, which write one after the other."""
    ref, value = _value(made)
    other = made.fitting(value)
    if other is None or value.dtype == torch.bool or _overlaps(value) or _overlaps(made.values[other.name]):
        return False
    call = made.dice.choice(("torch._foreach_add_", "torch._foreach_mul_", "torch._foreach_sub_"))
    return _statement(made, call, [ref, other], [other, ref])


STATEMENTS: dict[Statement, float] = {_view: 4, _read: 6, _write: 6, _reduce: 2, _several: 0.1}    # how often
