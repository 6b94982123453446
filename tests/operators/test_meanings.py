"""Every meaning says what torch does: each registered operator against torch itself, on small tensors in float64."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from meaning_samples import ENGINES, LARGEST, LOWEST, OWN, Call, Known, inf, own, recorded

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Expr, Unsupported
from samesame.formula.sizes import value_at
from samesame.formula.tensor import Tensor, leaf
from samesame.graph import Dtype
from samesame.operators import meaning_of
from samesame.operators.opaque import is_deterministic, schema_of
from samesame.operators.shapes import as_tensor, kind_of
from samesame.operators.table import COMPLEX, REAL, STORAGE, packet

OPERATORS = sorted(name for name in {*REAL, *COMPLEX} if not name.startswith(ENGINES))


def calls_of(operator: str) -> list[Call]:
    """Samples for one entry of the table, of all overloads that it serves."""
    whole = operator.count(".") == 2
    found = [
        call for name, calls in recorded().items() if name == operator or (not whole and packet(name) == operator)
        for call in calls
    ]
    return found + [call for name in OWN if name == operator or (not whole and packet(name) == operator)
                    for call in own(name)]


@pytest.mark.parametrize("operator", OPERATORS)
def test_meaning_agrees_with_torch(operator: str) -> None:
    agreed, refused = 0, set()
    for call in calls_of(operator):
        if not comparable(call):
            continue
        try:
            check(call)
            agreed += 1
        except Unsupported as reason:
            refused.add(str(reason))
    missing = "there is none; give some in OWN of meaning_samples.py"
    assert agreed, f"no sample of {operator} has a meaning: {refused or missing}"


def comparable(call: Call) -> bool:
    """Whether the numbers are few, of types that formulas know, and small enough for exp."""
    if call.operator == "aten.bincount.default" and len(call.result) > (call.args[2:3] or [0])[0]:
        return False                                       # it counts beyond what it is asked for
    tensors = [x for x in torch.utils._pytree.tree_leaves((call.args, call.kwargs, call.result))
               if isinstance(x, torch.Tensor)]
    return all(
        x.numel() <= LARGEST and x.dtype not in (torch.float16, torch.bfloat16)
        and not (x.is_floating_point() and ((x.abs() > 300) & (x.abs() < inf) & (x > LOWEST)).any())
        for x in tensors
    )


def check(call: Call) -> None:
    leaves = Leaves()
    meaning = meaning_of(call.operator)
    assert meaning is not None
    result = meaning(*map(leaves.of, call.args), **{name: leaves.of(value) for name, value in call.kwargs.items()})
    expected = call.result if isinstance(call.result, tuple | list) else (call.result,)
    found = result if isinstance(result, tuple) else (result,)
    untold = []
    results = [both for both in zip(found, expected, strict=True) if both[1] is not None]    # None: not asked for
    for number, (formula, torchs) in enumerate(results):
        try:
            agrees(formula, torchs, leaves, f"{call.operator}{shown(call)}[{number}]")
        except Unsupported as reason:                      # one of several results may have no formula
            untold.append(reason)
    if len(untold) == len(results):
        raise untold[0]


def agrees(
    formula: Tensor, torchs: torch.Tensor, leaves: Any, where: str, sizes: Mapping[str, int] | None = None
) -> None:
    """`leaves.values` holds the value of each leaf, `sizes` that of each size symbol."""
    assert formula.kind == kind_of(Dtype(str(torchs.dtype).removeprefix("torch."))), f"{where}: {formula.kind}"
    plain = torch.view_as_real(torchs.resolve_conj()) if torchs.is_complex() else torchs.detach()
    expected = plain.numpy()
    expected = np.where(expected <= LOWEST, -inf, expected) if plain.is_floating_point() else expected
    assert (formula.element()[1].kind == "bool") == (formula.kind == "bool"), f"{where}: {formula.element()[1]}"
    value = evaluate(formula, leaves.values, sizes, partial(run_opaque, sizes or {}))
    value = np.where(value <= LOWEST, -inf, value) if formula.kind == "real" else value
    assert value.shape == expected.shape, f"{where}: {value.shape} for {expected.shape}"
    defined = np.isfinite(expected) | np.isneginf(expected)    # formulas have no +∞ and no nan
    tolerance = 1e-9 if torchs.dtype in (torch.float64, torch.complex128) else 1e-5
    same = np.isclose(value.astype(float), expected.astype(float), rtol=tolerance, atol=tolerance)
    assert (same | ~defined).all(), f"{where}:\n{value}\n{expected}"


class Leaves:
    """Torch's arguments as leaves of formulas, and their values."""

    def __init__(self) -> None:
        self.values: dict[str, np.ndarray] = {}

    def of(self, argument: Any) -> Any:
        if isinstance(argument, torch.Tensor):
            plain = torch.view_as_real(argument.resolve_conj()) if argument.is_complex() else argument.detach()
            name, kind = f"x{len(self.values)}", kind_of(Dtype(str(argument.dtype).removeprefix("torch.")))
            self.values[name] = plain.resolve_neg().numpy()
            return leaf(name, tuple(plain.shape), kind)
        if isinstance(argument, Known):
            return as_tensor(argument.value.item())
        if isinstance(argument, torch.dtype):
            return Dtype(str(argument).removeprefix("torch."))
        if isinstance(argument, list | tuple):
            return tuple(map(self.of, argument))
        return argument


def run_opaque(
    sizes: Mapping[str, int], name: str, attributes: Any, wholes: tuple[np.ndarray, ...], kind: str
) -> np.ndarray:
    """Row by row, as torch itself does it."""
    row = torch.from_numpy(np.array(wholes[0]))
    if name == "aten.pow":
        return torch.pow(row, torch.from_numpy(np.array(wholes[1]))).numpy()
    if name in ("aten.argmax", "aten.argmin"):
        return getattr(torch, name.removeprefix("aten."))(row).numpy()
    result, rest = attributes
    rest = [value_at(a, sizes) if isinstance(a, Expr) else a for a in rest]
    if name == "aten.topk":
        return getattr(torch.topk(row, rest[0], 0, *rest[1:]), result).numpy()
    assert name == "aten.sort"
    return getattr(torch.sort(row, dim=0, descending=rest[0], stable=rest[1]), result).numpy()


def shown(call: Call) -> str:
    def short(x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            return f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}"
        return f"[{', '.join(map(short, x))}]" if isinstance(x, list | tuple) else repr(x)

    return f"({', '.join([*map(short, call.args), *(f'{k}={short(v)}' for k, v in call.kwargs.items())])})"


# --------------------------------------------------------------------------------------------------------- signatures


def overloads(operator: str) -> list[str]:
    """The overloads that an entry of the table serves: those of its packet that have tensors and return new ones."""
    if operator.count(".") == 2:
        return [operator]
    namespace, _, name = operator.partition(".")
    found = [s for s in torch._C._jit_get_schemas_for_operator(f"{namespace}::{name}")
             if not s.is_mutable and any("Tensor" in str(a.type) for a in s.arguments)]
    names = [f"{operator}.{s.overload_name or 'default'}" for s in found]
    return [n for n in names if n not in REAL and n not in COMPLEX]


@pytest.mark.parametrize("operator", OPERATORS)
def test_signature_is_that_of_torch(operator: str) -> None:
    """Positions, defaults and keyword names agree, so that what binds in torch binds here to the same argument."""
    import inspect

    function = REAL.get(operator) or COMPLEX[operator]
    own = [p for p in inspect.signature(function).parameters.values()]
    for name in overloads(operator):
        schema = schema_of(name)
        assert schema is not None, f"torch has no {name}"
        theirs = [a for a in schema.arguments if not a.kwarg_only]
        mine = [p for p in own if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        assert len(theirs) <= len(mine), f"{schema} has more arguments than the meaning of {operator}"
        for a, p in zip(theirs, mine, strict=False):
            if p.default is not inspect.Parameter.empty and a.has_default_value():
                assert same_default(p.default, a.default_value), f"{name}: {p.name}={p.default}, not {a.default_value}"
        extra = mine[len(theirs):]
        assert all(p.default is not inspect.Parameter.empty for p in extra), f"{name}: {extra} without default"
        for a in schema.arguments:
            if a.kwarg_only and a.name not in STORAGE:
                named = next((p for p in own if p.name == a.name), None)
                assert named is not None, f"{name} has a keyword {a.name}"
                if a.has_default_value() and named.default is not inspect.Parameter.empty:
                    assert same_default(named.default, a.default_value), f"{name}: {a.name}"


def same_default(mine: Any, theirs: Any) -> bool:
    if theirs in (None, [], ()) or mine in (None, (), []):
        return mine in (None, (), []) and theirs in (None, (), [])
    return bool(mine == theirs) or (isinstance(theirs, list) and all(x == mine for x in theirs))


def test_random_operators_are_no_functions() -> None:
    for name in ("aten.rand.default", "aten.bernoulli.default", "aten.dropout.default", "aten.empty.memory_format",
                 "aten.multinomial.default", "aten.randperm.default", "aten.normal_functional.default"):
        assert not is_deterministic(name), name
    for name in ("aten.mm.default", "aten.topk.default", "aten.nonzero.default", "unknown.operator.default"):
        assert is_deterministic(name), name
