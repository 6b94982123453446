"""The oracle: does a compiled program do what eager torch does?

An *observation* is everything that a caller can see of a program over several calls: outputs with dtype, shape, strides
and memory; what the inputs hold afterwards; which outputs share memory with inputs or with each other; the error, if it
raises one. Two observations are compared field by field. Integers and booleans must be equal. For floats the judge is a
run in float64: a compiled result is accused only where it is far from it and eager is not.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

CALLS = 3
FACTOR = 16.0  # how many times as far as eager a compiled result may be from the float64 run …
STEPS = 64.0  # … or how many units in the last place of the largest number, where eager is exact
# What a compiler says that knows what it cannot do.
REFUSED = re.compile(
    r"Unsupported|NotImplemented|[Nn]ot (supported|implemented)|UserError|DataDependent|Exporter|internal overlap"
)


@dataclass(frozen=True)
class Seen:
    """One tensor as a caller sees it."""

    value: torch.Tensor
    strides: tuple[int, ...]
    dtype: torch.dtype
    memory: tuple[str, ...]  # the names of inputs and outputs that share its memory


@dataclass(frozen=True)
class Observation:
    """What a caller sees of `CALLS` calls: each call's outputs, and what its inputs hold then; or an error."""

    outputs: tuple[tuple[Seen, ...], ...] = ()
    inputs: tuple[tuple[torch.Tensor, ...], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Discrepancy:
    """One thing that differs: its kind, where, and how much (relative, for values)."""

    kind: str
    where: str
    detail: str


def observe(call: Callable[..., Any], make_inputs: Callable[[], list[torch.Tensor]], calls: int = CALLS) -> Observation:
    """Run a program `calls` times, each time on new inputs with the same values."""
    outputs, inputs = [], []
    try:
        for _ in range(calls):
            given = make_inputs()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = call(*given)
            outputs.append(seen(given, result))
            inputs.append(tuple(tensor.clone() for tensor in given))
    except Exception as error:
        return Observation(error=words_of(error))
    return Observation(tuple(outputs), tuple(inputs))


def words_of(error: Exception) -> str:
    """An error in one line. Raises MemoryError where it says that there is no memory left."""
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        raise MemoryError from None
    told = re.sub("0x[0-9a-f]{6,}", "0x…", str(error))  # where things lie in memory
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])[:200]}"


def seen(given: Sequence[torch.Tensor], result: Any) -> tuple[Seen, ...]:
    results = result if isinstance(result, tuple | list) else (result,)
    named = [*((f"input {k}", tensor) for k, tensor in enumerate(given))]
    named += [(f"output {k}", tensor) for k, tensor in enumerate(results) if isinstance(tensor, torch.Tensor)]
    found = []
    for k, tensor in enumerate(results):
        tensor = tensor if isinstance(tensor, torch.Tensor) else torch.as_tensor(tensor)
        shared = [name for name, other in named if name != f"output {k}" and _share(tensor, other)]
        strides = (
            tuple(s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1) if tensor.numel() else ()
        )
        found.append(Seen(tensor.detach().clone(), strides, tensor.dtype, tuple(shared)))
    return tuple(found)


def _share(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.numel() > 0 and b.numel() > 0 and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def compare(eager: Observation, compiled: Observation, exact: Observation | None) -> list[Discrepancy]:
    """What differs, the worst first. `exact` is the float64 run, where there is one that raised nothing."""
    if eager.error:
        return []  # the program is not valid: nothing is asked of the compiler
    if compiled.error:
        return [Discrepancy("refusal" if REFUSED.search(compiled.error) else "crash", "", compiled.error)]
    wrong = [(len(a), len(b)) for a, b in zip(eager.outputs, compiled.outputs, strict=True) if len(a) != len(b)]
    if wrong:
        return [Discrepancy("wrong shape", "the result", f"{wrong[0][1]} outputs for {wrong[0][0]}")]
    found: list[Discrepancy] = []
    for call, (mine, yours) in enumerate(zip(eager.outputs, compiled.outputs, strict=True)):
        for k, (a, b) in enumerate(zip(mine, yours, strict=True)):
            found += _output(f"output {k}", a, b, exact.outputs[call][k].value if exact else None)
        for k, (x, y) in enumerate(zip(eager.inputs[call], compiled.inputs[call], strict=True)):
            if amount := gap(x, y, exact.inputs[call][k] if exact else None):
                found.append(Discrepancy("wrong input after the call", f"input {k}", amount))
        if found:
            break
    return found


def _output(where: str, a: Seen, b: Seen, wide: torch.Tensor | None) -> list[Discrepancy]:
    if a.dtype != b.dtype:
        return [Discrepancy("wrong dtype", where, f"{b.dtype} for {a.dtype}")]
    if a.value.shape != b.value.shape:
        return [Discrepancy("wrong shape", where, f"{list(b.value.shape)} for {list(a.value.shape)}")]
    found = []
    if amount := gap(a.value, b.value, wide):
        found.append(Discrepancy("wrong value", where, amount))
    if a.memory != b.memory:
        found.append(Discrepancy("wrong aliasing", where, f"shares memory with {_names(b)}, not with {_names(a)}"))
    if a.strides != b.strides:
        found.append(Discrepancy("wrong strides", where, f"{b.strides} for {a.strides}"))
    return found


def _names(tensor: Seen) -> str:
    return ", ".join(tensor.memory) or "nothing"


def gap(eager: torch.Tensor, compiled: torch.Tensor, wide: torch.Tensor | None) -> str:
    """How two tensors differ beyond what rounding explains; "" if they do not."""
    if not (eager.is_floating_point() or eager.is_complex()):
        wrong = (eager != compiled).sum().item()
        return f"{wrong} of {eager.numel()} elements" if wrong else ""
    kind = torch.complex128 if eager.is_complex() else torch.float64
    a, b = eager.to(kind), compiled.to(kind)
    other = unlike(a, b)
    if bool(other.any()):
        if wide is not None and wide.shape == a.shape:  # the two may round to either side of infinity, of one sign
            opposite = False if eager.is_complex() else (a > 0) & (b < 0) | (a < 0) & (b > 0)
            other &= ~_near_the_end(wide.to(kind), eager.dtype) | opposite
        if bool(other.any()):
            place = tuple(int(n) for n in other.nonzero()[0])
            return f"{b[place].item()} for {a[place].item()} at {list(place)}"
    both = torch.isfinite(a) & torch.isfinite(b)
    if not bool(both.any()):
        return ""
    scale = float(a[both].abs().max())
    unit = torch.finfo(eager.dtype).eps
    between = torch.where(both, (a - b).abs(), 0.0)
    if wide is None or wide.shape != a.shape or not bool(torch.isfinite(wide[both]).all()):
        allowed = STEPS * STEPS * unit * scale
        return _worst(between, a, b, scale) if float(between.max()) > allowed else ""
    true = wide.to(kind)
    mine, yours = (torch.where(both, (x - true).abs(), 0.0) for x in (a, b))
    allowed = FACTOR * float(mine.max()) + STEPS * unit * max(scale, torch.finfo(eager.dtype).tiny)
    return _worst(yours, true, b, scale) if float(yours.max()) > allowed else ""


def unlike(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Where one is a number and the other none, or an infinity of another sign."""
    finite = torch.isfinite(a) & torch.isfinite(b)
    same = (torch.isnan(a) & torch.isnan(b)) | (a == b)
    return ~(finite | same)


def _near_the_end(wide: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Where the true result is about as large as the largest number of the dtype, or beyond it."""
    return wide.abs() > torch.finfo(dtype).max / 4


def _worst(apart: torch.Tensor, a: torch.Tensor, b: torch.Tensor, scale: float) -> str:
    place = tuple(int(n) for n in torch.unravel_index(apart.argmax(), apart.shape))
    share = float(apart.max()) / scale if scale else math.inf
    return f"{b[place].item()} for {a[place].item()} at {list(place)}, off by {share:.1e} of the largest"


def apart(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one shape differ; NaN equals NaN."""
    return bool(((a != b) & ~((a != a) & (b != b))).any())
