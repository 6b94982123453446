"""Writes at positions that repeat: one that says the same each time has a meaning, any other has none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Unsupported, index
from samesame.formula.tensor import leaf
from samesame.operators import meaning_of
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
