"""Operators decide on sizes: a graph over symbols has the shapes it says where its operators decide alike."""

from __future__ import annotations

import pytest

from samesame.formula.expr import Size
from samesame.formula.region import around
from samesame.graph import Graph, Node, TensorType
from samesame.operators.positions import made_of_sizes, positions
from samesame.operators.sizing import sizing

T = Size("T", 2)


def graph(operator: str, args: tuple, shape: tuple, dtype: str = "float32", source: bool = True) -> Graph:
    x = Node("x", "input", type=TensorType((T, 3), "float32"))
    node = Node("y", operator, (x, *args) if source else args, type=TensorType(shape, dtype))
    return Graph("left", (x, node), (("0", node),))


@pytest.mark.parametrize("args, shape, region", [
    ((0, 0, 64), (T, 3), "2 ≤ T ≤ 64"),
    ((0, -64, None), (T, 3), "2 ≤ T ≤ 64"),
    ((0, 0, 5), (5, 3), "T ≥ 5"),
])
def test_a_slice_holds_as_far_as_it_is_cut_alike(args: tuple, shape: tuple, region: str) -> None:
    found = sizing(graph("aten.slice.Tensor", args, shape), {"T": 9})
    assert not found.unknown and str(around({"T": 9}, [T], found.conditions)) == region


def test_a_shape_that_an_operator_does_not_give_is_unknown() -> None:
    found = sizing(graph("planted.shorter.default", (), (T - 1, 3)), {"T": 9})
    assert [node.name for node in found.unknown] == ["y"]


DTYPES = [("bfloat16", "2 ≤ T ≤ 257"), ("float16", "2 ≤ T ≤ 2049"), ("int64", "T ≥ 2")]


@pytest.mark.parametrize("dtype, region", DTYPES)
def test_positions_are_exact_as_far_as_their_dtype_is(dtype: str, region: str) -> None:
    counted = graph("aten.arange.default", (T,), (T,), dtype, source=False)
    found = positions(counted, made_of_sizes(counted), {"T": 9})
    assert str(around({"T": 9}, [T], found.conditions)) == region
