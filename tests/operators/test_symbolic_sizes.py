"""A meaning over size symbols says what torch does at every size: built once, held against torch at several."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from meaning_samples import ENGINES, run
from symbolic_samples import CANNOT, HOLDS, REFUSED
from symbolic_words import END, INSTANCES, LEAST, SYMBOLS, Given
from test_meanings import agrees

from called import calls
from samesame.formula.expr import Expr, Size, Unsupported, const, eq, maximum, minimum, where
from samesame.formula.sizes import canonical, size_text, value_at
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.graph import Dtype, Node, TensorType
from samesame.operators import explain, meaning_of
from samesame.operators.shapes import count, divided, lower_bound, never_above, plain, same_size
from samesame.operators.table import COMPLEX, REAL

B, T, D, H, S = SYMBOLS.values()
Sizes = dict[str, int]


def named(arguments: Callable[..., tuple[Any, ...]]) -> list[str]:
    """The sizes that a call is written over."""
    return [name for name in inspect.signature(arguments).parameters if name in SYMBOLS]


def instances(names: list[str]) -> tuple[Sizes, ...]:
    """Where one size alone is looked at, every small one; otherwise three instances."""
    more = tuple({**INSTANCES[1], names[0]: n} for n in range(LEAST, 10)) if len(names) == 1 else ()
    return (*INSTANCES, *more)


class Arguments:
    """The arguments of one call: over symbols as formulas, at an instance as tensors with the same names."""

    def __init__(self) -> None:
        self.values: dict[str, np.ndarray] = {}
        self.count = 0

    def formula(self, argument: Any) -> Any:
        if isinstance(argument, Given):
            bounds = (0, canonical(argument.high - 1)) if argument.kind == "int" else None
            shape = (*argument.shape, 2) if argument.kind == "complex" else argument.shape
            return leaf(self.next(), tuple(map(plain, shape)), argument.kind, bounds)
        if isinstance(argument, torch.Tensor):
            return table(argument.tolist())
        if isinstance(argument, list | tuple):
            return tuple(map(self.formula, argument))
        return argument

    def tensor(self, argument: Any) -> Any:
        if isinstance(argument, Given):
            found = drawn(argument)
            array = torch.view_as_real(found) if found.is_complex() else found
            self.values[self.next()] = array.numpy()
            return found
        if isinstance(argument, Dtype):
            return getattr(torch, argument.name)
        if isinstance(argument, list | tuple):
            return type(argument)(map(self.tensor, argument))
        return argument

    def next(self) -> str:
        self.count += 1
        return f"x{self.count}"


def table(numbers: list[float]) -> Tensor:
    """A row of numbers."""
    def element(i: Any) -> Any:
        found = const(Fraction(numbers[-1]))
        for k, number in enumerate(numbers[:-1]):
            found = where(eq(i, k), Fraction(number), found)
        return found

    return tensor((len(numbers),), element)


def drawn(given: Given) -> torch.Tensor:
    shape = tuple(value_at(n, {}) for n in given.shape)
    match given.kind:
        case "int":
            return torch.randint(0, value_at(given.high, {}), shape)
        case "bool":
            return torch.rand(shape) < 0.6
        case "complex":
            return torch.randn(shape, dtype=torch.complex128)
    if given.share:
        return torch.rand(shape, dtype=torch.float64)
    return torch.rand(shape, dtype=torch.float64) + 0.5 if given.positive else torch.randn(shape, dtype=torch.float64)


def split_keywords(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (given[:-1], given[-1]) if given and isinstance(given[-1], dict) else (given, {})


def over_symbols(operator: str, arguments: Callable[..., tuple[Any, ...]]) -> Any:
    """The meaning of a call, built once over symbols."""
    args, kwargs = split_keywords(arguments(*(SYMBOLS[name] for name in named(arguments))))
    given, meaning = Arguments(), meaning_of(operator)
    assert meaning is not None
    return meaning(*map(given.formula, args), **{name: given.formula(value) for name, value in kwargs.items()})


def at_sizes(operator: str, arguments: Callable[..., tuple[Any, ...]], sizes: Sizes) -> tuple[Any, Arguments]:
    """What torch computes at these sizes, and the values of the leaves."""
    args, kwargs = split_keywords(arguments(*(sizes[name] for name in named(arguments))))
    given = Arguments()
    args = tuple(map(given.tensor, args))
    return run(operator, args, {name: given.tensor(value) for name, value in kwargs.items()}), given


def ids(calls: list[Any]) -> list[str]:
    return [f"{k}-{call[0]}" for k, call in enumerate(calls)]


# Results; the others differ from processor to processor.
TOLD = {"aten._embedding_bag_forward_only.default": 1, "aten._embedding_bag.default": 1}


@pytest.mark.parametrize("operator, arguments", HOLDS, ids=ids(HOLDS))
def test_a_meaning_over_symbols_agrees_with_torch_at_every_size(operator: str, arguments: Any) -> None:
    formulas = over_symbols(operator, arguments)
    formulas = formulas if isinstance(formulas, tuple) else (formulas,)
    torch.manual_seed(0)
    for sizes in instances(named(arguments)):
        result, given = at_sizes(operator, arguments, sizes)
        expected = result if isinstance(result, tuple | list) else (result,)
        assert len(expected) == len(formulas), f"{operator} at {sizes}"
        told = 0
        for formula, torchs in [*zip(formulas, expected, strict=True)][: TOLD.get(operator)]:
            if torchs is None:                             # not asked for
                continue
            where = f"{operator} at {sizes}"
            shape = tuple(value_at(n, sizes) for n in formula.shape)
            assert shape == tuple(torch.view_as_real(torchs).shape if torchs.is_complex() else torchs.shape), where
            if formula.element is not None and not untold(formula):
                agrees(formula, torchs, given, where, sizes)
                told += 1
        assert told, where


def untold(x: Tensor) -> bool:
    """One of several results may have no formula."""
    try:
        x.element()
    except Unsupported:
        return True
    return False


@pytest.mark.parametrize("operator, arguments, reason", REFUSED, ids=ids(REFUSED))
def test_what_does_not_hold_for_all_sizes_is_refused(operator: str, arguments: Any, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        found = over_symbols(operator, arguments)
        for result in found if isinstance(found, tuple | list) else [found]:
            result.element()                               # some look at their arguments when they are read


def test_shapes_over_symbols_are_canonical() -> None:
    for operator, arguments in HOLDS:
        found = over_symbols(operator, arguments)
        for x in found if isinstance(found, tuple) else (found,):
            assert x.shape == tuple(map(canonical, x.shape)), operator


# ----------------------------------------------------------------------------------------------------------- coverage


def function_of(operator: str) -> Any:
    return REAL.get(operator) or REAL.get(operator.rpartition(".")[0]) or COMPLEX[operator]


def is_pointwise(function: Any) -> bool:
    return inspect.unwrap(function.func if isinstance(function, partial) else function).__module__.endswith(
        ("pointwise", "complex"))


LAUNCHES = "triton."          # what kernels mean that were lifted in this process


def test_every_meaning_that_looks_at_a_size_is_held_against_torch_over_symbols() -> None:
    """Or stands in the list of those that cannot be, with a reason."""
    looked_at = {function_of(operator) for operator, _ in HOLDS}
    left = {name for table in (REAL, COMPLEX) for name in table if not name.startswith((*ENGINES, LAUNCHES))
            and not is_pointwise(function_of(name)) and function_of(name) not in looked_at}
    left -= set(CANNOT)
    assert not left, f"symbolic_samples.py needs calls over symbols of {sorted(left)}, in HOLDS"


def test_what_cannot_take_symbols_is_a_named_list() -> None:
    refused = {operator for operator, *_ in REFUSED}
    assert set(CANNOT) == {"aten.unbind.int", "aten.tril_indices.default", "aten.triu_indices.default"}
    assert set(CANNOT) <= refused and all(CANNOT.values())


def takes_one_tensor(function: Any) -> bool:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return all(p.default is not inspect.Parameter.empty for p in parameters)


@pytest.mark.parametrize("name", sorted(
    n for n in REAL if n.count(".") == 1 and is_pointwise(REAL[n]) and takes_one_tensor(REAL[n])))
def test_functions_of_one_element_take_any_shape(name: str) -> None:
    found = REAL[name](leaf("x", (B, T * 2)))
    found = found[0] if isinstance(found, tuple) else found
    assert found.shape == (B, T if name == "aten.glu" else canonical(T * 2))


# ------------------------------------------------------------------------------------------- every number that is near

NEAR = range(-4, 5)
EVERY: dict[str, list[tuple[Any, ...]]] = {                # the arguments beside a vector of size T
    "aten.slice.Tensor": [(0, a, b, step) for a in (None, *NEAR) for b in (END, *NEAR) for step in (1, 3)],
    "aten.select.int": [(0, k) for k in NEAR],
    "aten.narrow.default": [(0, a, n) for a in NEAR for n in range(4)],
    "aten.roll.default": [([k], [0]) for k in range(-9, 10)],
    "aten.constant_pad_nd.default": [([a, b], 0.5) for a in NEAR for b in NEAR],
    "aten.tensor_split.sections": [(k,) for k in range(1, 7)],
    "aten.chunk.default": [(k,) for k in range(1, 7)],
    "aten.split.Tensor": [(k,) for k in range(1, 5)],
    "aten.unfold.default": [(0, n, step) for n in range(1, 5) for step in range(1, 4)],
    "aten.diag.default": [(k,) for k in NEAR],
    "aten.topk.default": [(k,) for k in range(4)],
}


@pytest.mark.parametrize("operator", EVERY)
@pytest.mark.parametrize("size", [T, T + 4, 2 * T, canonical(T // 2 + 1)], ids=size_text)
def test_what_is_taken_is_right_and_what_is_refused_goes_wrong_somewhere(operator: str, size: Expr) -> None:
    """Refused is only what torch refuses at some size, or answers with another number of results there."""
    taken = 0
    meaning = meaning_of(operator)
    assert meaning is not None
    for arguments in EVERY[operator]:
        results = {t: torchs(operator, torch.arange(1.0, value_at(size, {"T": t}) + 1, dtype=torch.float64), arguments)
                   for t in range(LEAST, 11)}
        same = None not in results.values() and len({len(found) for found in results.values()}) == 1   # type: ignore
        try:
            found = meaning(leaf("x", (size,)), *arguments)
        except Unsupported:
            assert not same, f"{operator}{arguments} of {size} is refused"
            continue
        assert same, f"{operator}{arguments} of {size} is taken"
        taken += 1
        for t, expected in results.items():
            given = Arguments()
            given.values["x"] = np.arange(1.0, value_at(size, {"T": t}) + 1)
            for part, want in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):  # type: ignore
                assert tuple(value_at(n, {"T": t}) for n in part.shape) == want.shape, f"{operator}{arguments} at {t}"
                agrees(part, want, given, f"{operator}{arguments} at {t}", {"T": t})
    assert taken or operator == "aten.split.Tensor", "how many pieces there are hangs on the size, always"


def torchs(operator: str, x: torch.Tensor, arguments: tuple[Any, ...]) -> tuple[torch.Tensor, ...] | None:
    """What torch computes; None where it refuses."""
    try:
        found = run(operator, (x, *arguments), {})
    except (RuntimeError, IndexError):
        return None
    return tuple(found) if isinstance(found, tuple | list) else (found,)


# -------------------------------------------------------------------------------------------------------- explanations


X = Node("x", "input", type=TensorType((B, T), "float32"))


def explained(operator: str, *args: Any, shape: tuple[Any, ...]) -> Any:
    return explain(Node("n", operator, args, {}, TensorType(shape, "float32")), {X: leaf("x", (B, T))}.__getitem__)


@pytest.mark.parametrize("shape, agrees_", [
    ((T * B,), True), ((B * T * 4 // 4,), True), ((B * S,), False), ((B, T), False)])
def test_a_shape_of_another_polynomial_is_not_believed(shape: tuple[Any, ...], agrees_: bool) -> None:
    found = explained("aten.view.default", X, (-1,), shape=shape)
    assert (found.element()[1].kind == "real") and ("Opaque" in repr(found.element()[1])) != agrees_


def test_another_number_of_results_is_not_believed() -> None:
    piece = TensorType((B, T), "float32")
    node = Node("n", "aten.chunk.default", (X, 2, 1), {}, (piece, piece, piece))
    found = explain(node, {X: leaf("x", (B, T))}.__getitem__)
    assert "Opaque" in repr(found[0].element()[1])                         # type: ignore[index]


# -------------------------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize("a, b", [
    (B * T * 4, 4 * T * B), (H * D // H, D), ((H * D) // (D * H), 1), ((2 * S) // 2, S), ((T * 4) // 4, T),
    (S * T // T, S), ((T + B) * D, D * B + D * T), (T - (T - 3), 3), ((T + 2) * (T - 2), T * T - 4),
    ((4 * T + 3) // 4, T), ((T * 4 + 5) // 4, T + 1), ((6 * T) % 3, 0)])
def test_equal_polynomials_are_one_size(a: Any, b: Any) -> None:
    assert plain(a) == plain(b) and same_size((a,), (b,)) and count((a, D)) == count((D, b))


@pytest.mark.parametrize("dividend, by, quotient", [
    ((B, T + 1, D), (B, T + 1), D), ((T * T - 4,), (T - 2,), T + 2), ((B * T + B,), (T + 1,), B),
    ((6 * T,), (3,), 2 * T), ((0, T), (T,), 0), ((T * S * 4,), (2 * S, T), 2),
    ((B * D + B * H + T * D + T * H,), (B + T,), D + H)])
def test_division_of_sizes_that_is_exact(dividend: Any, by: Any, quotient: Any) -> None:
    assert divided(dividend, by) == plain(quotient)


@pytest.mark.parametrize("dividend, by", [((T,), (2,)), ((T * T - 4,), (T + 1,)), ((B,), (T,)), ((T,), (0,)),
                                          ((T * T,), (2 * T,))])
def test_division_of_sizes_that_leaves_a_rest_is_refused(dividend: Any, by: Any) -> None:
    with pytest.raises(Unsupported, match="no multiple"):
        divided(dividend, by)


@pytest.mark.parametrize("size, low", [(T, 2), (T - 2, 0), (T * B - B, 2), ((T + 1) // 2, 1), (2 * T - T, 2),
                                       (T - S, None), (maximum(T, 5), 5), (minimum(T * B, S), 2)])
def test_what_a_size_is_never_below(size: Expr, low: int | None) -> None:
    assert lower_bound(size) == low
    assert low is None or (never_above(low, size) and not never_above(low + 1, size))


@pytest.mark.parametrize("a, b, evident", [
    (T // 2, T - 1, True), (T // 2, T - 2, False), ((T + 1) // 2, T - 1, True), (T, 2 * ((T + 1) // 2), True),
    (T, 2 * (T // 2), False), (T - 1, 2 * (T // 2), True), (3 * (T // 3), T, True), (3 * (T // 3), T - 1, False),
    (T % 3, 2, True), (T % 3, 1, False), (T % S, S - 1, True), (minimum(T, 3), T, True), (minimum(T, 3), 3, True),
    (minimum(T, 3), 2, False), (T, maximum(T, 3), True), (maximum(T, 3), T + 1, True), (maximum(T, 3), T, False),
    (S * (T // S), T, True), (T // 2 + T // 3, T, True), (T // 2 + (T + 1) // 2, T, True), (T, S, False),
    (T // 2 + (T + 1) // 2, T - 1, False), (D * (T // 2), D * T, True), ((T - 7) // 2, T, True),
    (0, (T - 3) // 2, False), (minimum(T, 3) * 2, T * 2, True), (2, minimum(T * B, S), True)])
def test_when_a_size_is_never_above_another(a: Any, b: Any, evident: bool) -> None:
    """Evident only where it holds at every instance; here it is wherever it does."""
    holds = all(value_at(plain(a), at) <= value_at(plain(b), at)
                for t, s, d in product(range(2, 12), repeat=3) for at in [{"T": t, "S": s, "D": d, "B": d}])
    assert never_above(a, b) == evident == holds


def test_a_size_of_another_minimum_is_another_symbol() -> None:
    assert never_above(5, Size("T", 5)) and not same_size((Size("T", 5),), (T,))


def test_a_shape_of_many_sizes_is_quick() -> None:
    """No number of comparisons that grows with the square of the elements or the length of the chain."""
    meaning = meaning_of("aten.view.default")
    assert meaning is not None

    def chain(length: int) -> None:
        x = leaf("x", (B, T, H * D))
        for _ in range(length):
            x = meaning(meaning(x, (B, T, H, D)), (B, T, -1))

    few, many = calls(lambda: chain(20)), calls(lambda: chain(80))
    assert many < 8 * few, (few, many)
