"""Writes at positions that repeat: one that says the same each time has a meaning, any other has none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Expr, Unsupported, const, floordiv, index, le, lt, mod, not_, where
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.operators import meaning_of
from samesame.operators.one_to_one import elements_distinct, implies
from samesame.operators.shapes import pointwise

IDS = torch.tensor([[1, 3, 1, 1], [0, 0, 2, 4]])
X = torch.arange(12, dtype=torch.float64).reshape(2, 6)


def values() -> dict[str, np.ndarray]:
    return {"x": X.numpy(), "ids": IDS.numpy(), "rows": IDS[0].numpy()}


def test_what_is_read_where_it_is_written_may_be_written_twice() -> None:
    x, ids = leaf("x", (2, 6)), leaf("ids", (2, 4), "int", (0, 5))
    read = pointwise(lambda e: e * 3 + 1, meaning_of("aten.gather.default")(x, 1, ids))
    found = evaluate(meaning_of("aten.scatter.src")(x, 1, ids, read), values())
    assert np.array_equal(found, X.scatter(1, IDS, X.gather(1, IDS) * 3 + 1).numpy())


def test_rows_are_written_where_they_were_read() -> None:
    x, rows = leaf("x", (2, 6)), leaf("rows", (4,), "int", (0, 5))
    columns = meaning_of("aten.index.Tensor")(x, (None, rows))
    found = evaluate(meaning_of("aten.index_put.default")(x, (None, rows), pointwise(lambda e: -e, columns)), values())
    assert np.array_equal(found, X.index_put((torch.arange(2)[:, None], IDS[0]), -X[:, IDS[0]]).numpy())


def rows_put(indices):
    x, new = leaf("x", (2, 6)), leaf("new", indices.shape)
    result = meaning_of("aten.index_put.default")(meaning_of("aten.select.int")(x, 0, 0), (indices,), new)
    result[tuple(map(index, result.shape))]
    return result


def test_rows_are_written_at_places_of_which_no_two_are_equal() -> None:
    places, new = np.array([4, 0, 3]), np.array([0.5, 1.5, 2.5])
    with elements_distinct(["places"]):
        result = rows_put(leaf("places", (3,), "int", (0, 5)))
    found = evaluate(result, {"x": X.numpy(), "places": places, "new": new})
    assert np.array_equal(found, X[0].index_put((torch.tensor(places),), torch.tensor(new)).numpy())


def listed(numbers: list[int]) -> Tensor:
    """The numbers as they are written out, one after another."""
    def element(v: Expr) -> Expr:
        found = const(numbers[-1])
        for k in reversed(range(len(numbers) - 1)):
            found = where(lt(v, k + 1), numbers[k], found)
        return found

    return tensor((len(numbers),), element, "int")


@pytest.mark.parametrize("numbers", [[4, 0, 3], [2], [5, 1]])
def test_rows_are_written_at_a_list_of_places(numbers: list[int]) -> None:
    new = np.arange(len(numbers)) + 0.5
    found = evaluate(rows_put(listed(numbers)), {"x": X.numpy(), "new": new})
    assert np.array_equal(found, X[0].index_put((torch.tensor(numbers),), torch.tensor(new)).numpy())


@pytest.mark.parametrize("numbers", [[4, 0, 4], [1, 1], [-1, 5]])
def test_rows_are_not_written_at_a_list_with_repetitions(numbers: list[int]) -> None:
    with pytest.raises(Unsupported, match="may repeat"):
        rows_put(listed(numbers))


def put_at_digits(size: int, other: str) -> Tensor:
    """New elements at the digits of places, or of other numbers."""
    x, new = leaf("x", (2, 6)), leaf("new", (3,))
    places, others = (leaf(name, (3,), "int", (0, 11)) for name in ("places", other))
    high = tensor((3,), lambda i: floordiv(places[i], 6), "int")
    low = tensor((3,), lambda i: mod(others[i], size), "int")
    result = meaning_of("aten.index_put.default")(x, (high, low), new)
    result[tuple(map(index, result.shape))]
    return result


def test_the_digits_of_different_places_are_different() -> None:
    places, new = torch.tensor([7, 1, 6]), torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64)
    with elements_distinct(["places"]):
        found = evaluate(put_at_digits(6, "places"), {"x": X.numpy(), "places": places.numpy(), "new": new.numpy()})
        for size, other in ((5, "places"), (6, "others")):
            with pytest.raises(Unsupported, match="may repeat"):
                put_at_digits(size, other)
    assert np.array_equal(found, X.index_put((places // 6, places % 6), new).numpy())


@pytest.mark.parametrize("indices", ["others", "halves", "negative", "a table"])
def test_places_that_may_be_equal_are_refused(indices: str) -> None:
    places = leaf("places", (3,), "int", (0, 5))
    of = {
        "others": leaf("others", (3,), "int", (0, 5)),
        "halves": tensor((4,), lambda i: places[floordiv(i, 2)], "int"),
        "negative": leaf("places", (3,), "int", (-6, 5)),  # −1 is the last one
        "a table": leaf("places", (2, 3), "int", (0, 5)),
    }[indices]
    with elements_distinct(["places"]), pytest.raises(Unsupported, match="may repeat"):
        rows_put(of)


@pytest.mark.parametrize("source", ["another tensor", "the place in the source", "another position"])
def test_what_hangs_on_more_than_its_position_is_refused(source: str) -> None:
    x, ids = leaf("x", (2, 6)), leaf("ids", (2, 4), "int", (0, 5))
    read = meaning_of("aten.gather.default")(x, 1, ids)
    written = {
        "another tensor": leaf("src", (2, 4)),
        "the place in the source": pointwise(lambda e, k: e + k, read, meaning_of("aten.arange.default")(4)),
        "another position": meaning_of("aten.flip.default")(read, (1,)),
    }[source]
    with pytest.raises(Unsupported, match="may repeat"):
        result = meaning_of("aten.scatter.src")(x, 1, ids, written)
        result[tuple(map(index, result.shape))]


def put_beside(places: Tensor, least: int, spare: int) -> Tensor:
    """New rows at places that are no less than a number, the others at a spare one."""
    x, new = leaf("x", (2, 6)), leaf("new", (3,))
    at = pointwise(lambda e: where(lt(e, least), spare, e), places)
    result = meaning_of("aten.index_put.default")(meaning_of("aten.select.int")(x, 0, 0), (at,), new)
    result[tuple(map(index, result.shape))]
    return result


def test_rows_are_written_at_places_that_repeat_at_a_spare_one() -> None:
    places, new = np.array([-1, 3, -1]), np.array([0.5, 1.5, 2.5])
    with elements_distinct([], {"places": lambda e: le(0, e)}):
        result = put_beside(leaf("places", (3,), "int", (-1, 4)), 0, 5)
    values = {"x": X.numpy(), "places": places, "new": new}
    found = evaluate(result, values, opaque=lambda name, attributes, arguments, kind: np.full(6, np.nan))
    assert found[:5].tolist() == [0, 1, 2, 1.5, 4] and np.isnan(found[5]), "nobody knows which of two is last"


@pytest.mark.parametrize("least, leaf_name", [(-1, "places"), (0, "others")])
def test_places_that_may_repeat_elsewhere_are_refused(least: int, leaf_name: str) -> None:
    with elements_distinct([], {"places": lambda e: le(0, e)}), pytest.raises(Unsupported, match="may repeat"):
        put_beside(leaf(leaf_name, (3,), "int", (-2, 4)), least, 5)


def test_what_follows_from_a_comparison() -> None:
    n = leaf("n", (1,), "int")[0]
    assert implies(le(1, n), le(0, n)) and implies(lt(0, n), le(1, n)) and implies(not_(lt(n, 0)), le(0, n))
    assert not implies(le(-1, n), le(0, n)) and not implies(le(n, 0), le(0, n))
