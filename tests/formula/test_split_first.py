"""A free index over two dimensions at once is split before denominators are cleared, which may be long sums."""

from samesame.formula.equal import Budget, Proved, prove_tensors_equal
from samesame.formula.tensor import leaf
from samesame.operators import meaning_of


def test_a_norm_of_rows_in_two_dimensions_is_that_of_rows_in_one():
    norm, reshape = meaning_of("aten.layer_norm.default"), meaning_of("aten.reshape.default")
    x, weight, bias = leaf("x", (22, 128)), leaf("w", (128,)), leaf("b", (128,))
    apart = norm(reshape(x, (2, 11, 128)), (128,), weight, bias, 1e-5)
    together = norm(x, (128,), weight, bias, 1e-5)
    assert isinstance(prove_tensors_equal(together, reshape(apart, (22, 128)), budget=Budget(seconds=20)), Proved)


def test_another_row_is_another_norm():
    norm, reshape = meaning_of("aten.layer_norm.default"), meaning_of("aten.reshape.default")
    x, weight, bias = leaf("x", (22, 8)), leaf("w", (8,)), leaf("b", (8,))
    swapped = reshape(norm(reshape(x, (11, 2, 8)), (8,), weight, bias, 1e-5), (2, 11, 8))
    turned = meaning_of("aten.transpose.int")(reshape(swapped, (11, 2, 8)), 0, 1)
    together = norm(x, (8,), weight, bias, 1e-5)
    assert not isinstance(
        prove_tensors_equal(together, reshape(turned, (22, 8)), budget=Budget(seconds=5)), Proved
    )
