"""What a node of a graph means: arguments bound as torch binds them, and opaque functions where there is no formula."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from samesame.formula.expr import Add, Load, Mul, Opaque, Pow, Unsupported, index, walk
from samesame.formula.tensor import Tensor, leaf
from samesame.graph import Dtype, Node, TensorType
from samesame.operators import MOVEMENT, explain, meaning_of
from samesame.operators.explain import compares_beyond, may_wrap
from samesame.operators.table import packet

X = Node("x", "input", type=TensorType((2, 3), "float32"))
W = Node("w", "input", type=TensorType((3,), "float32"))
LEAVES: dict[Node, Any] = {X: leaf("x", (2, 3)), W: leaf("w", (3,))}


def node(operator: str, *args: Any, shape: tuple[int, ...] = (2, 3), dtype: str = "float32", **kwargs: Any) -> Node:
    return Node("n", operator, args, kwargs, TensorType(shape, dtype))


def at(x: Tensor | tuple[Tensor, ...], *i: Any) -> Any:
    assert isinstance(x, Tensor)
    return x[i]


def explained(n: Node) -> Any:
    return explain(n, LEAVES.__getitem__)


i, j = index(2), index(3)


def test_a_keyword_means_what_its_position_means() -> None:
    plain = explained(node("aten.sum.dim_IntList", X, (-1,), True, shape=(2, 1)))
    named = explained(node("aten.sum.dim_IntList", X, keepdim=True, dim=(-1,), shape=(2, 1)))
    assert plain.shape == named.shape == (2, 1)
    assert "x" in repr(at(named, i, 0))


def test_a_default_is_filled_in() -> None:
    assert at(explained(node("aten.add.Tensor", X, W)), i, j) is at(explained(node("aten.add.Tensor", X, W, alpha=1)),
                                                                    i, j)


def test_where_a_result_is_stored_does_not_matter() -> None:
    cast = explained(node("aten._to_copy.default", X, dtype=Dtype("float64"), device="cpu", layout="torch.strided"))
    assert at(cast, i, j) is at(LEAVES[X], i, j)


def test_an_argument_that_torch_does_not_have_is_refused() -> None:
    with pytest.raises(Unsupported, match="no argument colour"):
        explained(node("aten.relu.default", X, colour="red"))


def test_a_norm_without_epsilon_takes_that_of_its_dtype() -> None:
    told = explained(node("aten.rms_norm.default", X, (3,), W, 2.0**-23))
    assert at(explained(node("aten.rms_norm.default", X, (3,), W, None)), i, j).kind == "real"
    bare = [re.sub(r"Index\(\d+", "Index(", repr(at(t, i, j))) for t in
            (told, explained(node("aten.rms_norm.default", X, (3,), W, None)))]
    assert bare[0] == bare[1]


def test_getitem_picks_one_result() -> None:
    pair = node("aten.topk.default", X, 2)
    LEAVES[pair] = meaning_of("aten.topk.default")(LEAVES[X], 2)           # type: ignore[misc]
    assert explained(node("getitem", pair, 1)) is LEAVES[pair][1]


@pytest.mark.parametrize("operator", ["aten.rand_like.default", "aten.bernoulli.default", "aten.empty_like.default"])
def test_randomness_and_uninitialised_memory_are_no_functions(operator: str) -> None:
    with pytest.raises(Unsupported, match=operator):
        explained(node(operator, X))


def test_dropout_in_training_is_random_and_at_inference_nothing() -> None:
    with pytest.raises(Unsupported, match="random"):
        explained(node("aten.dropout.default", X, 0.5, True))
    assert at(explained(node("aten.dropout.default", X, 0.5, False)), i, j) is at(LEAVES[X], i, j)


def test_a_write_is_no_function() -> None:
    with pytest.raises(Unsupported, match="writes"):
        explained(node("aten.erfinv_.default", X))


class TestOpaque:
    """An operator without a formula is an unknown function of its whole arguments."""

    def one(self, *args: Any, operator: str = "aten.i0.default", **kwargs: Any) -> Any:
        return at(explained(node(operator, *args, **kwargs)), i, j)

    def test_equal_arguments_give_equal_results(self) -> None:
        a, b = (self.one(X).arguments[0].body for _ in range(2))
        assert isinstance(self.one(X), Opaque)
        assert isinstance(a, Load) and isinstance(b, Load) and a.leaf is b.leaf

    def test_other_arguments_and_dtypes_are_told_apart(self) -> None:
        double = Node("d", "input", type=TensorType((2, 3), "float64"))
        LEAVES[double] = LEAVES[X]
        assert self.one(X).attributes != self.one(double).attributes

        def rolled(x: Any) -> Any:
            return self.one(X, x, operator="aten.polygamma.default")

        assert rolled(2).attributes == rolled(2).attributes
        assert rolled(2).attributes != rolled(2.0).attributes != rolled(True).attributes

    def test_several_results_are_told_apart(self) -> None:
        kind = TensorType((2, 3), "float32")
        a, b = explained(Node("n", "aten.frexp.Tensor", (X,), {}, (kind, kind)))
        assert a[i, j].attributes != b[i, j].attributes

    def test_a_meaning_that_does_not_reach_leaves_a_function(self) -> None:
        n = node("aten.convolution.default", X, X, None, (1,), (0,), (1,), True, (0,), 1)
        assert isinstance(at(explained(n), i, j), Opaque)

    def test_narrow_integers_may_wrap_around(self) -> None:
        narrow = Node("b", "input", type=TensorType((2, 3), "uint8"))
        LEAVES[narrow] = leaf("b", (2, 3), "int")
        assert isinstance(at(explained(node("aten.mul.Tensor", narrow, narrow, dtype="uint8")), i, j), Opaque)
        moved = explained(node("aten.view.default", narrow, (3, 2), shape=(3, 2), dtype="uint8"))
        assert not any(isinstance(e, Opaque) for e in walk(moved[j, i]))
        rows = Node("r", "input", type=TensorType((4,), "int64"))
        LEAVES[rows] = leaf("r", (4,), "int", (0, 1))
        chosen = explained(node("aten.index_select.default", narrow, 0, rows, shape=(4, 3), dtype="uint8"))
        assert not any(isinstance(e, Opaque) for e in walk(at(chosen, i, j)))
        added = node("aten.index_add.default", narrow, 0, rows, narrow, dtype="uint8")
        assert isinstance(at(explained(added), i, j), Opaque)

    def test_narrow_integers_that_are_put_into_rows_do_not_wrap_around(self) -> None:
        narrow = Node("b", "input", type=TensorType((2, 3), "uint8"))
        row = Node("v", "input", type=TensorType((3,), "uint8"))
        place = Node("p", "input", type=TensorType((1,), "int64"))
        shapes = {narrow: leaf("b", (2, 3), "int"), row: leaf("v", (3,), "int"), place: leaf("p", (1,), "int", (0, 1))}
        LEAVES.update(shapes)
        put = node("aten.index_put.default", narrow, (place,), row, dtype="uint8")
        assert not any(isinstance(e, Opaque) for e in walk(at(explained(put), i, j)))
        for adds in (node("aten.index_put.default", narrow, (place,), row, True, dtype="uint8"),
                     Node("n", "aten.index_put.default", (narrow, (place,), row), {"accumulate": True}, narrow.type)):
            assert isinstance(at(explained(adds), i, j), Opaque)

    def test_a_meaning_of_another_shape_is_not_believed(self) -> None:
        assert isinstance(explained(node("aten.relu.default", X, shape=(5, 3)))[0, 0], Opaque)


def test_movement_computes_nothing() -> None:
    """No element of a movement's result is a sum or product of elements."""
    from meaning_samples import own, recorded
    from test_meanings import Leaves, comparable

    looked_at = set()
    for operator in recorded():
        if packet(operator) not in MOVEMENT or meaning_of(operator) is None:
            continue
        for call in (*recorded()[operator][:5], *own(operator)):
            if not comparable(call) or "complex" in str(call.args):
                continue
            leaves = Leaves()
            try:
                result = meaning_of(operator)(*map(leaves.of, call.args), **call.kwargs)  # type: ignore[misc]
            except Unsupported:
                continue
            for x in result if isinstance(result, tuple) else (result,):
                arithmetic = [e for e in walk(x.element()[1]) if isinstance(e, Add | Mul | Pow) and e.kind == "real"]
                assert not arithmetic, f"{operator}: {arithmetic[0]}"
                looked_at.add(packet(operator))
    assert len(looked_at) > 40, sorted(MOVEMENT - looked_at)


@pytest.mark.parametrize(("number", "beyond"), [(-1, True), (0, False), (255, False), (256, True)])
def test_a_number_is_compared_as_what_it_wraps_to(number: int, beyond: bool) -> None:
    """Torch makes 255 of −1 beside a uint8, and no formula says that."""
    x = Node("x", "input", type=TensorType((2,), "uint8"))
    assert compares_beyond(Node("n", "aten.eq.Scalar", (x, number), {}, TensorType((2,), "bool"))) is beyond


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16])
@pytest.mark.parametrize("least, call", [
    (0, torch.bitwise_and), (0, torch.bitwise_right_shift), (1, torch.floor_divide), (1, torch.remainder),
    (1, torch.fmod), (1, partial(torch.div, rounding_mode="floor")), (1, partial(torch.div, rounding_mode="trunc")),
])
def test_what_lessens_narrow_integers_does_not_wrap_around(
    dtype: torch.dtype, least: int, call: Callable[..., torch.Tensor]
) -> None:
    ends = torch.iinfo(dtype)
    x = torch.arange(ends.min, ends.max + 1)
    for number in (least, 1, 2, 3, 7, 100, 127):
        if call is not torch.bitwise_right_shift or number < ends.bits:
            assert torch.equal(call(x.to(dtype), number).long(), call(x, number)), number


def test_only_small_numbers_lessen_narrow_integers() -> None:
    def wraps(operator: str, number: object) -> bool:
        return may_wrap(f"aten.{operator}", (X, number), ["int8"])

    assert not any(wraps(name, 127) for name in ("div.Tensor_mode", "remainder.Scalar", "bitwise_and.Scalar"))
    assert not wraps("bitwise_and.Scalar", 0)
    assert all(wraps(name, number) for name in ("div.Tensor_mode", "fmod.Scalar") for number in (-1, 0, 128, X))
