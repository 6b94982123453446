"""Extremes: inputs that are no numbers, for programs that ask whether they are; integers at the ends of their dtype.

Proofs are over real numbers, of which none is NaN or infinite, so they are about finite inputs. A program that tests
for NaN or infinities says something about others: there both programs run on such inputs as well, and a difference on
them is a difference. A program asks by an operator that treats NaN or an infinity apart from other numbers (`isnan`,
`nan_to_num`, `fmax`), by comparing a tensor with itself or with an infinity, and by a comparison of reals that came out
the same everywhere on all draws, such as x − x = 0. Proofs are over unbounded integers, too; inputs of 8 and 16 bits,
in which arithmetic soon wraps around, are drawn over all that they hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import closed, is_finite
from samesame.operators.table import packet
from samesame.relate.joint import HUGE
from samesame.relate.propose import Values, reals

Inputs = dict[str, torch.Tensor]
Change = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
Changes = tuple[tuple[str, Change], ...]

ASKING = frozenset(
    f"aten.{name}"
    for name in [
        *("isnan", "isinf", "isfinite", "isposinf", "isneginf", "nan_to_num", "fmax", "fmin"),
        *("nansum", "nanmean", "nanmedian", "nanquantile"),
    ]
)
COMPARING = frozenset(f"aten.{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
CASTS = frozenset(("aten._to_copy", "aten.to"))
EQUATING = frozenset(("aten.eq", "aten.ne"))
SHARE = 0.2                 # of the elements that are replaced


def asking(graph: Graph, values: Values) -> list[Node]:
    """The operators that ask whether a tensor that depends on an input holds numbers; `values` of its nodes on the
    draws."""
    constants, changed = closed(graph), _changed(graph)
    return [n for n in graph.nodes if n.name not in constants
            and (is_asking(n) or (not changed.isdisjoint(n.inputs) and _settled(n, values)))]


def _changed(graph: Graph) -> set[Node]:
    """What is made of an input's reals, cast or not, without a comparison: what NaN or an infinity may arrive at. How
    many elements satisfy something is a number, whatever they are."""
    found: set[Node] = set()
    for node in graph.nodes:
        inner = [part for part in node.inputs if part in found]
        reals = _holds_reals(node.type)
        if (reals and node.operator == "input") or (inner and (
                reals or packet(node.operator) in CASTS or not all(_holds_reals(part.type) for part in inner))):
            found.add(node)
    return found


def _holds_reals(type_: Any) -> bool:
    if isinstance(type_, tuple):
        return any(map(_holds_reals, type_))
    return isinstance(type_, TensorType) and type_.dtype.startswith(("float", "bfloat", "complex"))


def is_asking(node: Node) -> bool:
    """Does it treat NaN or an infinity apart from other numbers, whatever is drawn?"""
    if packet(node.operator) in ASKING:
        return True
    if packet(node.operator) not in COMPARING or not any(map(_is_real, node.inputs)):
        return False
    a, b = node.args[:2]
    return a is b or any(isinstance(side, float) and not math.isfinite(side) for side in (a, b))


def _is_real(node: Node) -> bool:
    return isinstance(node.type, TensorType) and "float" in node.type.dtype


def _settled(node: Node, values: Values) -> bool:
    """Whether a comparison of reals that came out the same everywhere on all draws asks for NaN or an infinity: whether
    numbers are equal that always were, or how they lie to what is an infinity or stands for one. Who asks whether a
    count or a norm is above 0 has one answer, too, and does not ask; nor does the gradient of a minimum, which asks
    whether two numbers are as small."""
    if packet(node.operator) not in COMPARING or not any(map(_is_real, node.inputs)):
        return False
    answers = [value for draw in values if isinstance(value := draw.get(node.name), torch.Tensor)]
    always, never = all(bool(a.all()) for a in answers), not any(bool(a.any()) for a in answers)
    finds_equal = {"aten.eq": always, "aten.ne": never}.get(packet(node.operator), False)
    return finds_equal or ((always or never) and any(_is_infinity(side, node, values) for side in node.args[:2]))


def _is_infinity(side: Any, node: Node, values: Values) -> bool:
    """Whether a side is an infinity, or a number as large, in the program; asked for equality, also in a tensor that
    holds nothing else. A mask puts −∞ beside numbers, and nobody asks for it."""
    if isinstance(side, float):
        return abs(side) > HUGE
    if not isinstance(side, Node) or not _is_real(side) or packet(node.operator) not in EQUATING:
        return False
    held = [value for draw in values if isinstance(value := draw.get(side.name), torch.Tensor)]
    return bool(held) and all(value.numel() > 0 and bool((value.abs() > HUGE).all()) for value in held)


def extreme(inputs: Mapping[str, torch.Tensor], changes: Changes, seed: int) -> Iterator[tuple[str, Inputs]]:
    """Inputs, by name, changed in each of these ways, with words for what is in them."""
    generator = torch.Generator().manual_seed(seed)
    for word, change in changes:
        changed = {name: change(value, generator) for name, value in inputs.items()}
        if any(changed[name] is not value for name, value in inputs.items()):
            yield word, changed


def _some(number: float) -> Change:
    """Some elements of a tensor of finite reals replaced."""

    def change(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        if not value.dtype.is_floating_point or not value.numel() or not is_finite(value):
            return value
        place = torch.rand(value.shape, generator=generator) < SHARE
        place.view(-1)[int(torch.randint(value.numel(), (), generator=generator))] = True
        return torch.where(place, number, value)

    return change


def _all(number: float) -> Change:
    return lambda value, _: torch.full_like(value, number) if value.dtype.is_floating_point else value


def _masks(value: bool) -> Change:
    return lambda mask, _: torch.full_like(mask, value) if mask.dtype == torch.bool else mask


def _ends(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Integers over the whole range of a dtype of 8 or 16 bits, and its ends; zeros and ones are flags, and stay."""
    if value.dtype not in SHORT or not bool(((value != 0) & (value != 1)).any()):
        return value
    held = torch.iinfo(value.dtype)
    anywhere = torch.randint(held.min, held.max + 1, value.shape, generator=generator)
    ends = torch.where(torch.rand(value.shape, generator=generator) < 0.5, held.min, held.max)
    return torch.where(torch.rand(value.shape, generator=generator) < 0.5, anywhere, ends).to(value.dtype)


SHORT = (torch.int8, torch.uint8, torch.int16, torch.uint16)
OF_INTEGERS: Changes = (("integers over the range of their dtype", _ends),)
OF_REALS: Changes = (
    ("NaN in some places", _some(math.nan)),
    ("+∞ in some places", _some(math.inf)),
    ("−∞ in some places", _some(-math.inf)),
)
ASKED_FOR: Changes = (              # where a program asks for them by name
    ("NaN everywhere", _all(math.nan)),
    ("−∞ everywhere", _all(-math.inf)),
    ("masks that are true everywhere", _masks(True)),
    ("masks that are false everywhere", _masks(False)),
)


def first_apart(a: torch.Tensor, b: torch.Tensor) -> str:
    """Where two outputs part, and what they are there."""
    shape, (x, y) = reals(a, b)[0].shape, (part.flatten() for part in reals(a, b))
    apart = ~((x == y) | (x.isnan() & y.isnan()))
    finite = x.isfinite() & y.isfinite()
    scale = torch.cat([x[x.isfinite()], y[y.isfinite()], torch.ones(1, dtype=torch.float64)]).abs().max()
    apart &= ~finite | ((x - y).abs() > 1e-6 * scale)
    flat = int(apart.nonzero()[0]) if bool(apart.any()) else 0
    place = [int(k) for k in torch.unravel_index(torch.tensor(flat), shape)]
    return f"{place or ''}: left {float(x[flat]):.6g}, right {float(y[flat]):.6g}"
