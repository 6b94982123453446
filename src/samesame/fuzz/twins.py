"""Twins: an equal program, spelled otherwise.

A rewrite replaces one step by others that compute the same. Its label says in which arithmetic: *exact* (bit for bit,
but for the sign of NaN), or *real* (equal over the reals, so that roundings may differ). A twin takes a few rewrites at
places that dice choose; compiled or not, it must do what the original does, as exactly as its weakest label says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from samesame.fuzz.generators.operators import run_step
from samesame.fuzz.program import Block, Line, Program, Ref, Step, steps_in

MOST = 4  # rewrites in a twin

Namer = Callable[[], str]
Values = dict[str, torch.Tensor]
Rewrite = Callable[[Step, Values, Namer], Sequence[Step] | None]


def named(functions: str) -> frozenset[str]:
    """Functions of torch by their paths."""
    return frozenset("torch." + name for name in functions.split())


@dataclass(frozen=True, slots=True)
class Rule:
    """`rewrite(step, values, fresh)` gives the steps in place of one, or None where it does not apply."""

    name: str
    exact: bool
    rewrite: Rewrite


@dataclass(frozen=True, slots=True)
class Twin:
    """The rewritten program, the rules that led to it, and whether it is equal bit for bit."""

    program: Program
    rules: tuple[str, ...]
    exact: bool


def twin_of(program: Program, dice: random.Random) -> Twin | None:
    """A twin by a few rewrites; None where none applies."""
    places = list(sites(program))
    dice.shuffle(places)
    chosen: dict[int, tuple[Rule, Sequence[Step]]] = {}
    fresh = _names(program)
    for position, values in places:
        rules = list(RULES)
        dice.shuffle(rules)
        step = program.steps[position]
        assert isinstance(step, Step)
        for rule in rules:
            made = rule.rewrite(step, values, fresh)
            if made is not None:
                chosen[position] = rule, made
                break
        if len(chosen) == MOST:
            break
    if not chosen:
        return None
    steps: list[Line] = []
    for position, line in enumerate(program.steps):
        steps += chosen[position][1] if position in chosen else [line]
    used = [chosen[position][0] for position in sorted(chosen)]
    return Twin(replace(program, steps=tuple(steps)), tuple(r.name for r in used), all(r.exact for r in used))


def sites(program: Program) -> Iterator[tuple[int, Values]]:
    """Each step outside blocks, with the values before it (dtypes and shapes are what rewrites ask about)."""
    values = {given.name: tensor for given, tensor in zip(program.inputs, program.make_inputs(), strict=True)}
    for position, line in enumerate(program.steps):
        if isinstance(line, Step):
            yield position, dict(values)
        for step in steps_in([line]):
            result = run_step(step, values)
            if step.results:
                values.update(zip(step.results, result if step.unpacked else (result,), strict=True))
        if isinstance(line, Block):
            continue


def _names(program: Program) -> Namer:
    number = 0

    def fresh() -> str:
        nonlocal number
        number += 1
        return f"t{number}"

    return fresh


# ------------------------------------------------------------------------------------------------------------- helpers


def _tensor(argument: Any, values: Values) -> torch.Tensor | None:
    return values.get(argument.name) if isinstance(argument, Ref) else None


def _call(step: Step, call: str, arguments: int) -> bool:
    """Whether this is that call with so many arguments, and nothing else."""
    return step.call == call and len(step.args) == arguments and not step.kwargs and len(step.results) == 1


def _pair(step: Step, call: str, values: Values) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Both tensors of a call of two tensors of one dtype."""
    if not _call(step, call, 2):
        return None
    a, b = (_tensor(argument, values) for argument in step.args)
    return (a, b) if a is not None and b is not None and a.dtype == b.dtype else None


# --------------------------------------------------------------------------------------------------------------- rules


def _commuted(call: str) -> Rewrite:
    def rewrite(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
        return [replace(step, args=step.args[::-1])] if _pair(step, call, values) else None

    return rewrite


def _as_subtraction(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """a + b = a − (−b)."""
    pair = _pair(step, "torch.add", values)
    if pair is None or pair[0].dtype == torch.bool:
        return None
    name = fresh()
    return [
        Step((name,), "torch.neg", (step.args[1],)),
        replace(step, call="torch.sub", args=(step.args[0], Ref(name))),
    ]


def _copied_first(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """f(a, …) = f(clone(a), …), where f makes memory of its own."""
    if not step.results or step.call not in POINTWISE or not step.args or _tensor(step.args[0], values) is None:
        return None
    name = fresh()
    return [Step((name,), "torch.clone", (step.args[0],)), replace(step, args=(Ref(name), *step.args[1:]))]


def _out_of_place(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """a.f_(b) = a.copy_(f(a, b))."""
    pure = OUT_OF_PLACE.get(step.call)
    target = _tensor(step.args[0], values) if step.args else None
    if step.results or pure is None or target is None:
        return None
    name = fresh()
    return [Step((name,), pure, step.args, step.kwargs), Step((), ".copy_", (step.args[0], Ref(name)))]


def _number_as_tensor(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """a · 2 = a · tensor(2), of the dtype of a."""
    if (
        step.call not in ("torch.add", "torch.mul", "torch.sub")
        or len(step.args) != 2
        or step.kwargs
        or not step.results
    ):
        return None
    tensor, number = _tensor(step.args[0], values), step.args[1]
    if tensor is None or type(number) not in (int, float) or tensor.dim() == 0 or tensor.dtype == torch.bool:
        return None
    if isinstance(number, float) and tensor.dtype not in (torch.float32, torch.float64):
        return None
    name = fresh()
    return [
        Step((name,), "torch.tensor", (number,), {"dtype": tensor.dtype}),
        replace(step, args=(step.args[0], Ref(name))),
    ]


def _through_transpose(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """f(a, b) = f(aᵀ, bᵀ)ᵀ, for an f that acts element by element; in memory of its own, as before."""
    if step.call not in POINTWISE or not step.results or step.unpacked:
        return None
    tensors = [_tensor(argument, values) for argument in step.args]
    if any(t is not None and (t.dim() < 2 or t.shape != tensors[0].shape) for t in tensors if tensors[0] is not None):
        return None
    if tensors[0] is None or tensors[0].dim() < 2:
        return None
    made, args = [], []
    for argument, tensor in zip(step.args, tensors, strict=True):
        if tensor is None:
            args.append(argument)
            continue
        name = fresh()
        made.append(Step((name,), "torch.transpose", (argument, 0, 1)))
        args.append(Ref(name))
    inner, back = fresh(), fresh()
    made.append(replace(step, results=(inner,), args=tuple(args)))
    made.append(Step((back,), "torch.transpose", (Ref(inner), 0, 1)))
    return [*made, Step(step.results, "torch.clone", (Ref(back),), {"memory_format": torch.contiguous_format})]


def _in_halves(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """f(a, b) = concat(f(a₁, b₁), f(a₂, b₂)), for an f that acts element by element."""
    if step.call not in POINTWISE or not step.results or step.unpacked:
        return None
    tensors = [_tensor(argument, values) for argument in step.args]
    first = tensors[0]
    if first is None or first.dim() == 0 or first.shape[0] < 2:
        return None
    if any(t is not None and t.shape != first.shape for t in tensors):
        return None
    made: list[Step] = []
    halves: list[list[Any]] = [[], []]
    for argument, tensor in zip(step.args, tensors, strict=True):
        for half, bounds in zip(halves, (slice(None, 1), slice(1, None)), strict=True):
            if tensor is None:
                half.append(argument)
                continue
            name = fresh()
            made.append(Step((name,), "[]", (argument, bounds)))
            half.append(Ref(name))
    parts = [fresh(), fresh()]
    made += [replace(step, results=(name,), args=tuple(half)) for name, half in zip(parts, halves, strict=True)]
    return [*made, Step(step.results, "torch.cat", ([Ref(name) for name in parts], 0))]


def _flipped_sum(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """Σ a = Σ flip(a)."""
    tensor = _tensor(step.args[0], values) if step.args else None
    if step.call not in ("torch.sum", "torch.amax", "torch.amin", "torch.any", "torch.all") or tensor is None:
        return None
    over = step.args[1] if len(step.args) > 1 else None
    if tensor.dim() == 0 or len(step.args) > 2 or set(step.kwargs) or type(over) not in (int, type(None)):
        return None
    dims = list(range(tensor.dim())) if over is None else [over]
    name = fresh()
    return [Step((name,), "torch.flip", (step.args[0], dims)), replace(step, args=(Ref(name), *step.args[1:]))]


def _flattened(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """f(a) = f(flat(a)) in the shape of a."""
    tensor = _tensor(step.args[0], values) if len(step.args) == 1 else None
    if step.call not in POINTWISE or tensor is None or tensor.dim() < 2 or step.kwargs or step.unpacked:
        return None
    flat, inner = fresh(), fresh()
    return [
        Step((flat,), "torch.flatten", (step.args[0],)),
        replace(step, results=(inner,), args=(Ref(flat),)),
        Step(step.results, "torch.reshape", (Ref(inner), tuple(tensor.shape))),
    ]


def _transposed_product(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """A·B = (Bᵀ·Aᵀ)ᵀ."""
    pair = _pair(step, "torch.matmul", values) or _pair(step, "torch.mm", values)
    if pair is None or any(tensor.dim() != 2 for tensor in pair):
        return None
    a, b, product, back = (fresh() for _ in range(4))
    return [
        Step((a,), "torch.t", (step.args[0],)),
        Step((b,), "torch.t", (step.args[1],)),
        replace(step, results=(product,), args=(Ref(b), Ref(a))),
        Step((back,), "torch.t", (Ref(product),)),
        Step(step.results, "torch.clone", (Ref(back),), {"memory_format": torch.contiguous_format}),
    ]


def _unfused_softmax(step: Step, values: Values, fresh: Namer) -> Sequence[Step] | None:
    """softmax(a) = exp(a − max a) / Σ exp(a − max a)."""
    if step.call not in ("torch.softmax", "torch.nn.functional.softmax") or not step.args or len(step.args) > 2:
        return None
    tensor = _tensor(step.args[0], values)
    dim = step.args[1] if len(step.args) == 2 else step.kwargs.get("dim")
    if tensor is None or tensor.dim() == 0 or tensor.numel() == 0 or type(dim) is not int or set(step.kwargs) - {"dim"}:
        return None
    top, below, power, total = (fresh() for _ in range(4))
    return [
        Step((top,), "torch.amax", (step.args[0], dim, True)),
        Step((below,), "torch.sub", (step.args[0], Ref(top))),
        Step((power,), "torch.exp", (Ref(below),)),
        Step((total,), "torch.sum", (Ref(power), dim, True)),
        Step(step.results, "torch.div", (Ref(power), Ref(total))),
    ]


# Operators that act element by element and round each element by itself.
POINTWISE = named(
    """add sub mul maximum minimum neg abs square logical_not logical_xor logical_and logical_or bitwise_not sign floor
    ceil trunc eq ne lt le gt ge isnan isinf isfinite relu"""
)

OUT_OF_PLACE = {
    ".add_": "torch.add",
    ".sub_": "torch.sub",
    ".mul_": "torch.mul",
    ".neg_": "torch.neg",
    ".abs_": "torch.abs",
    ".clamp_": "torch.clamp",
    ".relu_": "torch.relu",
    ".logical_not_": "torch.logical_not",
    ".logical_xor_": "torch.logical_xor",
    ".index_fill_": "torch.index_fill",
    ".index_copy_": "torch.index_copy",
    ".masked_fill_": "torch.masked_fill",
    ".zero_": "torch.zeros_like",
}

RULES = (
    Rule("a + b = b + a", True, _commuted("torch.add")),
    Rule("a · b = b · a", True, _commuted("torch.mul")),
    Rule("a + b = a − (−b)", True, _as_subtraction),
    Rule("f(a) = f(clone a)", True, _copied_first),
    Rule("a.f_(b) = a.copy_(f(a, b))", True, _out_of_place),
    Rule("a · 2 = a · tensor(2)", True, _number_as_tensor),
    Rule("f(a) = f(aᵀ)ᵀ", True, _through_transpose),
    Rule("f(a) = concat(f(a₁), f(a₂))", True, _in_halves),
    Rule("f(a) = f(flat a)", True, _flattened),
    Rule("Σ a = Σ flip a", False, _flipped_sum),
    Rule("A·B = (Bᵀ·Aᵀ)ᵀ", False, _transposed_product),
    Rule("softmax a = exp(a − max a) / Σ", False, _unfused_softmax),
)
