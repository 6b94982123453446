"""Claims that random values refute: no proof is looked for, and none is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from samesame import check
from samesame.capture import capture
from samesame.graph import Graph
from samesame.relate.trial import they_part

Program = Callable[..., torch.Tensor]
SIZE = 300                               # a sum over all elements of a product is too long to be a formula


def joined(left: Program, right: Program) -> Graph:
    """Both programs as sides of one claim."""

    def both(*args: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return left(*args), right(*args)

    a, b = torch.randn(2, SIZE, SIZE, dtype=torch.float64)
    return capture(both, (a @ a.T + torch.eye(SIZE), b))


def parts(graph: Graph) -> bool | None:
    (_, left), (_, right) = graph.roots
    return they_part(graph, left.name, right.name, {})


CLAIMS = {                               # what holds of all tensors, of those from 0 on, of few
    "a trace": (lambda a, b: (a @ b).trace(), lambda a, b: (b @ a).trace(), False),
    "a root": (lambda a, b: (a * a * b).sqrt(), lambda a, b: a * b.sqrt(), False),
    "a symmetric one": (lambda a, b: a @ b, lambda a, b: a.T @ b, True),
    "one that is orthogonal": (lambda a, b: (a.T @ a) @ b, lambda a, b: b + 0 * a, True),
    "no number": (lambda a, b: (-1 - a * a).log(), lambda a, b: b, None),
}


@pytest.mark.parametrize(("left", "right", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_whether_random_values_part(left: Program, right: Program, expected: bool | None) -> None:
    assert parts(joined(left, right)) is expected


def test_rules_are_learnt_of_what_has_symbols_for_sizes() -> None:
    found = check(lambda x: x.sort(descending=True).values, lambda x: x.sort().values.flip(0), (torch.randn(12),))
    assert found.verdict == "same" and not any("generalised" in note for note in found.notes)
