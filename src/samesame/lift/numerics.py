"""How exact a kernel is: what it stores, beside its formula worked out in double precision on the same inputs.

Proofs are over the reals; floating point is measured, and what is measured is stated in full. The launch function runs
on the CPU, its kernels in Triton's interpreter, with tensors of float32, float16 and bfloat16 in turn, as the default
dtype under which it makes its example tensors. For each kernel the formula gets the tensors as they were before the
launch, rounded as they are, and is worked out in float64: so the error is the kernel's own arithmetic and the rounding
of its result, not that of its inputs. The error of a draw is the largest difference of all elements over the largest
magnitude in the formula's result; of the draws the worst counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from samesame.evidence import Refused
from samesame.formula.definite import Unknown
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Load, Unsupported, substitute, walk
from samesame.formula.sizes import value_at
from samesame.formula.tensor import tensor
from samesame.kernels.execution.positions import last_of_largest, last_of_smallest
from samesame.kernels.front import Passed, passed_of
from samesame.kernels.verdict import Formula, KernelVerdict
from samesame.operators.execute import default_dtype

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
DRAWS = 3
SECONDS = 60.0  # for one run
SMALL = 1e-6  # a largest magnitude below this counts as this

OPAQUE: dict[str, Callable[..., Any]] = {  # functions that formulas do not look into, as numpy works them out
    "pow": np.power,
    "atan2": np.arctan2,
    "trunc": lambda x: np.trunc(x).astype(np.int64),
    "isnan": lambda x: np.isnan(x).astype(np.int64),
    "aten.argmax": np.argmax,
    "aten.argmin": np.argmin,
    "last_argmax": last_of_largest,
    "last_argmin": last_of_smallest,
}


@dataclass(frozen=True)
class Measured:
    """The error of one stored tensor in one dtype: of `draws` runs the worst, relative to the largest magnitude."""

    kernel: str
    tensor: str
    dtype: str
    error: float
    draws: int
    sizes: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel,
            "tensor": self.tensor,
            "dtype": self.dtype,
            "error": self.error,
            "draws": self.draws,
            "sizes": dict(self.sizes),
            "reference": "the formula in float64 on the same inputs",
            "error_is": "the largest difference over the largest magnitude, worst draw",
            "inputs": "as the launch function makes them, seeds from 0",
        }


def measured(
    target: Any, inputs: Any, captured: Any, lifted: Mapping[int, KernelVerdict]
) -> tuple[list[Measured], list[str]]:
    """The errors of every tensor with a formula, for each dtype, and sentences about what could not be measured.

    `lifted` are the verdicts of the launches by their number in the host's order.
    """
    worst: dict[tuple[str, str, str], list[float]] = {}
    sentences: dict[str, None] = {}
    for dtype in DTYPES:
        for seed in range(DRAWS):
            try:
                found = list(errors_of_run(target, inputs, captured, lifted, dtype, seed))
            except Refused as refused:
                sentences[f"{name_of(dtype)} is not measured: {refused}"] = None
                break
            for key, error in found:
                if isinstance(error, str):
                    sentences[error] = None
                else:
                    worst.setdefault(key, []).append(error)
    sizes = dict(captured.sizes)
    return [Measured(*key, max(errors), len(errors), sizes) for key, errors in worst.items()], list(sentences)


def errors_of_run(
    target: Any, inputs: Any, captured: Any, lifted: Mapping[int, KernelVerdict], dtype: torch.dtype, seed: int
) -> Iterator[tuple[tuple[str, str, str], float | str]]:
    """One run: for each tensor with a formula (kernel, tensor, dtype) and the error, or a sentence why it has none."""
    from samesame.kernels.host.interpret import interpret

    first = {launch.call: launch for launch in reversed(captured.launches)}
    with default_dtype(dtype):
        run = interpret(target, cast_to(inputs, dtype), seed=seed, timeout=SECONDS)
    for (_, launch), execution in zip(sorted(first.items()), run.executions, strict=False):
        verdict = lifted.get(launch.call)
        if verdict is None or verdict.unsupported:
            continue
        passed = passed_of(launch, captured)
        for formula in verdict.formulas:
            parameter = next((p for p, one in passed.items() if one.name == formula.tensor), "")
            if formula.expr is None or not execution.after[parameter].is_floating_point():
                continue
            key = verdict.kernel, formula.tensor, name_of(execution.after[parameter].dtype)
            try:
                yield key, error_of(formula, passed, execution, captured.sizes)
            except Unsupported as unsupported:
                yield key, f"{formula.tensor} is not measured: {unsupported}"


def cast_to(inputs: Any, dtype: torch.dtype) -> Any:
    from torch.utils._pytree import tree_map

    def one(leaf: Any) -> Any:
        return leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

    return tree_map(one, inputs)


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


# ----------------------------------------------------------------------------------------------------------- one tensor


def error_of(formula: Formula, passed: Mapping[str, Passed], execution: Any, sizes: Mapping[str, int]) -> float:
    """The largest difference between a formula's values and what the kernel stored, relative to the largest value.

    Raises Unsupported for a formula that nobody can work out on numbers.
    """
    indices, expr = formula.expr
    shape = tuple(i.extent for i in indices)
    whole = tensor(shape, lambda *at: substitute(expr, dict(zip(indices, at, strict=True))), expr.kind)
    parameters = {one.name: p for p, one in passed.items()}
    values: dict[str, Any] = {}
    for leaf in dict.fromkeys(e.leaf for e in walk(expr) if isinstance(e, Load)):
        if isinstance(leaf, Unknown):
            values[leaf.name] = np.full(tuple(value_at(n, sizes) for n in leaf.shape), np.nan)
            continue
        name = leaf.name.removesuffix("*")
        source = parameters[name]
        if leaf.name.endswith("*") and any(value_at(n, sizes) < 0 for n in passed[source].view.strides):
            raise Unsupported(f"{name} runs backwards, and is read by its offsets")
        line, array = seen(execution.before[source], passed[source].view, sizes)
        values[leaf.name] = line if leaf.name.endswith("*") else array
    parameter = parameters[formula.tensor]
    _, stored = seen(execution.after[parameter], passed[parameter].view, sizes)
    return apart(stored, evaluate(whole, values, dict(sizes), opaque=by_numpy))


def by_numpy(name: str, attributes: Any, arguments: tuple[Any, ...], kind: str) -> Any:
    """An opaque function of whole tensors. Raises Unsupported for one that is not in the table."""
    if name not in OPAQUE:
        raise Unsupported(f"{name} is opaque")
    return np.asarray(OPAQUE[name](*arguments))


def seen(held: torch.Tensor, view: Any, sizes: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The memory from a view's first element on, as one row, and the view itself; `held` is any tensor in it."""
    shape, strides = (tuple(value_at(n, sizes) for n in part) for part in (view.shape, view.strides))
    storage = held.untyped_storage()
    memory = plain(torch.tensor([], dtype=held.dtype).set_(storage))
    row = memory[value_at(view.offset, sizes) :]
    return row, np.lib.stride_tricks.as_strided(row, shape, tuple(s * row.itemsize for s in strides))


def plain(value: torch.Tensor) -> np.ndarray:
    """The tensor as an array; floats in double precision."""
    value = value.detach()
    return value.double().numpy() if value.is_floating_point() else value.resolve_conj().numpy()


def apart(got: Any, right: Any) -> float:
    """The largest difference over the largest magnitude on the right; infinite where one is no number."""
    got, right = (np.asarray(a, dtype=np.float64) for a in (got, right))
    if got.shape != right.shape:
        got = got.reshape(right.shape) if got.size == right.size else got
    both = np.isfinite(got) & np.isfinite(right)
    if not np.array_equal(np.isnan(got), np.isnan(right)) or not np.array_equal(got[~both], right[~both], True):
        return float("inf")
    scale = max(float(np.abs(right[both]).max(initial=0)), SMALL)
    return float(np.abs(got[both] - right[both]).max(initial=0)) / scale
