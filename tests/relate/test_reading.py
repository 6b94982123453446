"""Numbers of layouts found at sizes that tell roles apart are read as sizes over symbols."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samesame.entangle.reading import over_symbols
from samesame.formula.expr import Expr, Size, add, mul
from samesame.formula.sizes import canonical, size_text, value_at
from samesame.formula.tensor import Dim
from samesame.relate.layout import Concat, Layout, Permute, Reshape, Scaled, Slice, Whole, values

B, T, H, D = (Size(name, 2) for name in "BTHD")
FOUND = {"B": 3, "T": 5, "H": 7, "D": 11}
TWO_H = canonical(mul(2, H))

CASES: list[tuple[Layout, tuple[Dim, ...], tuple[Dim, ...], str]] = [
    (Slice(Whole("w"), 0, 7, 14), (TWO_H, D), (H, D), "slice(w; 0, H:2·H)"),
    (Slice(Whole("w"), 1, 0, 11), (B, canonical(mul(2, D))), (B, D), "slice(w; 1, 0:D)"),
    (Slice(Whole("w"), 0, 15, 20), (canonical(mul(4, T)),), (T,), "slice(w; 0, 3·T:4·T)"),
    (Slice(Whole("w"), 0, 3, 10), (canonical(add(B, H)), B), (H, B), "slice(w; 0, B:B + H)"),
    (Permute(Slice(Whole("w"), 0, 7, 14), (1, 0)), (TWO_H, D), (D, H), "permute(slice(w; 0, H:2·H); 1×0)"),
    (
        Reshape(Slice(Reshape(Whole("w"), (3, 14, 11)), 1, 7, 14), (21, 11)),
        (canonical(mul(2, B, H)), D),
        (canonical(mul(B, H)), D),
        "reshape(slice(reshape(w; B×2·H×D); 1, H:2·H); B·H×D)",
    ),
    (Scaled(Slice(Whole("w"), 0, 0, 7), 2), (TWO_H,), (H,), "2·slice(w; 0, 0:H)"),  # type: ignore[arg-type]
    (Whole("w"), (B,), (B,), "w"),
]


@pytest.mark.parametrize("layout, mine, yours, told", CASES)
def test_numbers_are_read_as_sizes(layout: Layout, mine: tuple[Dim, ...], yours: tuple[Dim, ...], told: str) -> None:
    found = over_symbols(layout, mine, yours, FOUND)
    assert found is not None and shown(found) == told


def shown(layout: Layout) -> str:
    """With sizes as people write them."""
    match layout:
        case Slice(part, dim, start, stop):
            return f"slice({shown(part)}; {dim}, {size_text(start)}:{size_text(stop)})"
        case Reshape(part, shape):
            return f"reshape({shown(part)}; {'×'.join(map(size_text, shape))})"
        case Permute(part, dims):
            return f"permute({shown(part)}; {'×'.join(map(str, dims))})"
        case Scaled(part, factor):
            return f"{factor}·{shown(part)}"
    return str(layout)


@given(st.sampled_from(CASES[:-2]), st.integers(2, 6), st.integers(2, 6), st.integers(2, 6), st.integers(2, 6))
def test_at_other_sizes_it_makes_the_wanted_shape(
    case: tuple[Layout, tuple[Dim, ...], tuple[Dim, ...], str], b: int, t: int, h: int, d: int
) -> None:
    layout, mine, yours, _ = case
    sizes = {"B": b, "T": t, "H": h, "D": d}
    found = over_symbols(layout, mine, yours, FOUND)
    assert found is not None
    whole = torch.zeros([value_at(n, sizes) for n in mine])
    assert values(at(found, sizes), lambda _: whole).shape == torch.Size([value_at(n, sizes) for n in yours])


def at(layout: Layout, sizes: dict[str, int]) -> Layout:
    match layout:
        case Slice(part, dim, start, stop):
            return Slice(at(part, sizes), dim, value_at(start, sizes), value_at(stop, sizes))
        case Reshape(part, shape):
            return Reshape(at(part, sizes), tuple(value_at(n, sizes) for n in shape))
        case Permute(part, dims):
            return Permute(at(part, sizes), dims)
    return layout


def test_a_number_that_is_no_size_is_not_read() -> None:
    assert over_symbols(Slice(Whole("w"), 0, 4, 11), (TWO_H,), (H,), FOUND) is None
    assert over_symbols(Concat((Whole("w"), Whole("w")), 0), (H,), (TWO_H,), FOUND) is None
    assert isinstance(TWO_H, Expr)
