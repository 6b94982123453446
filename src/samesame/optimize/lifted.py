"""Printed Triton kernels, lifted back: does the code compute what its stages should?

Nothing that prints is trusted. The file is run on tensors that are not there, as `samesame lift` runs any launch
function; each kernel that it launches is read from Triton's own intermediate language, with sizes as symbols, and must
be verified: its formula holds for all sizes, every element is written once, no access leaves its tensor, and so on.
Then its formula is compared with that of the stages, tensor by tensor, over the same inputs. A size of 1 is a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samesame.evidence import Refused
from samesame.formula.binders import replaced
from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Expr, Index, Num, Size, Unsupported, const, index, substitute, walk
from samesame.formula.tensor import Dim, Tensor, leaf
from samesame.kernels.front import launch_of, passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.kernel import Settings, lift_launch
from samesame.kernels.verdict import KernelVerdict
from samesame.lift.compose import with_tensors
from samesame.lift.reference import holding
from samesame.lift.together import covered_by
from samesame.operators.numbers import constant
from samesame.optimize.emit.triton import Module
from samesame.optimize.ir import Buffer

SETTINGS = Settings(seconds=20.0)
BUDGET = Budget(seconds=8.0)
MANY, SMALL = 4, (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)
PRIMES = (19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)


class NotLifted(Exception):
    """Why a kernel's code is not proved to compute its stages' formulas."""


@dataclass(frozen=True)
class Lifted:
    """A kernel whose code is proved to be the formula; under which `conditions` on sizes, and for elements for which
    `where` holds."""

    kernel: str
    formulas: tuple[str, ...]
    conditions: tuple[str, ...]
    where: tuple[str, ...]


def lifted(
    file: Path, module: Module, inputs: Sequence[Buffer], outputs: Sequence[str], holds: Mapping[str, Tensor],
    sizes: Mapping[str, int],
) -> list[Lifted]:
    """The kernels of a module that stands in a file, each proved to compute what `holds` says of the tensors that it
    writes. The conditions that this takes are kept at these `sizes`. Raises NotLifted."""
    dims = {size for buffer in inputs for size in buffer.shape}
    symbols, free = sorted(size.name for size in dims if isinstance(size, Size)), [p for p in PRIMES if p not in dims]
    if len(symbols) > len(free):
        raise NotLifted(f"{len(symbols)} sizes are too many to be told apart")
    example = dict(zip(symbols, free, strict=False))
    try:
        captured = capture_launches(f"{file}:launch", tuple(given(buffer, example) for buffer in inputs))
    except Refused as refused:
        raise NotLifted(str(refused)) from None
    if asked := [*captured.refused, *captured.fixed, *captured.unread, *captured.choices, *captured.guards]:
        raise NotLifted(f"the host does not launch alike for all sizes: {asked[0]}")
    called = sizes_of(captured, module, inputs)
    numbers = {theirs: size for theirs, size in called.items() if isinstance(size, int)}
    launches = captured.launches
    if len(launches) != len(module.functions) or any(not hasattr(step, "variants") for step in captured.steps):
        raise NotLifted("the host launches other kernels than those that were printed, or does more than that")
    verdicts: dict[int, list[KernelVerdict]] = {}
    found = []
    for launch, function in zip(launches, module.functions, strict=True):
        here = {theirs: sizes[size.name] for theirs, size in called.items() if isinstance(size, Size)}
        try:
            whole = launch_of(launch, captured, covered_by(captured, verdicts)).at(numbers)
            verdict = lift_launch(replace(whole, example=here), SETTINGS)
            require_names(launch, captured)
            where = compared(verdict, module, called, holds)
        except (Refused, Unsupported, NotLifted) as error:
            raise NotLifted(f"{function.name}: {error}") from None
        verdicts[launch.call] = [verdict]
        written = {module.tensors[formula.tensor].name for formula in verdict.formulas}
        if written != {buffer.name for buffer in function.writes}:
            raise NotLifted(f"{function.name} writes other tensors than it should")
        formulas = tuple(formula.text for formula in verdict.formulas)
        found.append(Lifted(function.name, formulas, tuple(verdict.preconditions), where))
    require_results(captured, module, outputs)
    return found


def require_values(file: Path, module: Module, inputs: Sequence[Buffer], holds: Mapping[str, Tensor]) -> None:
    """Run the module in Triton's interpreter at small, ragged sizes: every tensor that a kernel writes holds its
    formula up to rounding, and no access is out of bounds. Raises NotLifted."""
    symbols = sorted({size.name for buffer in inputs for size in buffer.shape if isinstance(size, Size)})
    sizes = dict(zip(symbols, PRIMES if len(symbols) < MANY else SMALL, strict=False))
    tensors = [torch.randn(given(b, sizes).shape).to(given(b, sizes).dtype) for b in inputs]
    try:
        run = interpret(f"{file}:launch", tuple(tensors))
    except Refused as refused:
        raise NotLifted(f"in Triton's interpreter: {refused}") from None
    for execution, function in zip(run.executions, module.functions, strict=True):
        if execution.faults:
            raise NotLifted(f"in Triton's interpreter: {execution.faults[0]}")
        held = {module.tensors[name].name: x.double().numpy() for name, x in execution.before.items()}
        after = {module.tensors[name].name: x for name, x in execution.after.items()}
        for buffer in function.writes:
            wanted = torch.as_tensor(evaluate(holds[buffer.name], held, sizes))
            near = 8 * torch.finfo(after[buffer.name].dtype).eps ** 0.75 * float(wanted.abs().max())
            if not bool(((after[buffer.name].double() - wanted).abs() <= near).all()):
                raise NotLifted(f"in Triton's interpreter {buffer.name} holds something else than its formula")


def given(buffer: Buffer, example: Mapping[str, int]) -> torch.Tensor:
    shape = [example[size.name] if isinstance(size, Size) else number(size) for size in buffer.shape]
    return torch.empty(shape, dtype=getattr(torch, buffer.dtype), device="meta")


def number(size: Dim) -> int:
    if isinstance(size, Expr):
        raise NotLifted(f"a dimension of an input is {size!r}, which is no size of its own")
    return size


def sizes_of(captured: Any, module: Module, inputs: Sequence[Buffer]) -> dict[str, Dim]:
    """What each symbol of the host's is: a size of ours, or a number. Raises NotLifted where the host took a size for
    a number, or two sizes for one."""
    views, found = dict(captured.inputs), dict[str, Dim]()
    for name, buffer in module.tensors.items():
        if buffer not in inputs:
            continue
        if name not in views or len(views[name].shape) != len(buffer.shape):
            raise NotLifted(f"the host takes {name} for another tensor")
        for theirs, own in zip(views[name].shape, buffer.shape, strict=True):
            if isinstance(theirs, Size) and found.setdefault(theirs.name, own) == own:
                continue
            if theirs != own:
                raise NotLifted(f"the host takes a size of {name}, {own}, for {theirs}")
    return found


def require_names(launch: Any, captured: Any) -> None:
    """Every tensor of a launch is spoken of by the name of its memory: then one name is one tensor in all launches."""
    for one in passed_of(launch, captured).values():
        if captured.memories[one.view.memory].name != one.name:
            raise NotLifted(f"it is passed a part of {captured.memories[one.view.memory].name}, or another tensor")


def require_results(captured: Any, module: Module, outputs: Sequence[str]) -> None:
    """What is returned is the outputs, in order, each whole."""
    returned = [(captured.memories[view.memory].name, view) for _, view in captured.outputs]
    names = [module.tensors[name].name for name, _ in returned if name in module.tensors]
    if names != list(outputs) or any(view.offset != 0 for _, view in returned):
        raise NotLifted("the host returns something else than the outputs")


def compared(
    verdict: KernelVerdict, module: Module, sizes: Mapping[str, Dim], holds: Mapping[str, Tensor]
) -> tuple[str, ...]:
    """On which conditions the formulas of a verified kernel are proved to be what they should be. Raises NotLifted."""
    if verdict.unsupported:
        raise NotLifted(verdict.unsupported[0])
    if verdict.verdict != "verified":
        open_ = next(o for o in verdict.obligations if o.state != "proved")
        raise NotLifted(f"{open_.name} is {open_.state}: {open_.detail}")
    leaves = {name: leaf(b.name, b.shape, b.leaf.kind) for name, b in module.tensors.items()}
    conditions: dict[str, None] = {}
    for formula in verdict.formulas:
        indices, expr = formula.expr
        buffer = module.tensors[formula.tensor]
        theirs = holding(Tensor(tuple(v.extent for v in indices), partial(element, expr, indices)), sizes)
        if buffer.name not in holds or theirs.shape != buffer.shape:
            raise NotLifted(f"{buffer.name} is written, and should not be, or has another shape")
        at = tuple(index(size) for size in buffer.shape)
        wanted = holds[buffer.name][at]
        found = with_decimals(with_tensors(theirs[at], leaves), wanted)
        answer = prove_equal(wanted, found, budget=BUDGET)
        if not isinstance(answer, Proved):
            raise NotLifted(f"{buffer.name} is not proved to hold its formula: {answer.reason[:200]}")
        conditions |= dict.fromkeys(map(str, answer.conditions))
    return tuple(conditions)


def element(expr: Expr, indices: Sequence[Index], *at: Expr) -> Expr:
    return substitute(expr, dict(zip(indices, at, strict=True)))


def with_decimals(found: Expr, wanted: Expr) -> Expr:
    """The numbers of `wanted` in the place of what float32 makes of them: 9.999999974752427e-07 is 1e-06."""
    decimals: dict[Expr, Expr] = {}
    for e in walk(wanted):
        if isinstance(e, Num) and e.value.denominator != 1:
            for sign in (1, -1):
                single, own = float(np.float32(float(sign * e.value))), const(sign * e.value)
                decimals |= {constant(single): own, const(Fraction(single)): own}
    return replaced(found, decimals)
