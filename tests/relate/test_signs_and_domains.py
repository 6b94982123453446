"""What a comparison hangs on, where an operator has no value for some numbers: read off the table of functions."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from samesame.capture import capture
from samesame.formula.scalars import SCALARS
from samesame.relate.reals import PARTIAL, _demands

GIVEN = {"x": torch.linspace(0.1, 0.9, 4)}


@pytest.mark.parametrize("name", SCALARS)
def test_a_function_without_a_value_somewhere_demands_what_its_row_says(name: str) -> None:
    place, needed, words = PARTIAL.get(f"aten.{name}", (0, 0, ""))
    assert place == 0 and bool(words) == bool(needed) == bool(SCALARS[name].domain)


@pytest.mark.parametrize(("function", "demands"), [
    (lambda x: torch.lgamma(x), ["numbers x where x is none of 0, −1, −2, …"]),
    (lambda x: torch.tan(x), ["numbers x where cos(x) ≠ 0"]),
    (lambda x: torch.asin(x), ["numbers x where −1 ≤ x ≤ 1"]),
    (lambda x: torch.log(x), ["numbers > 0"]),
    (lambda x: torch.log1p(x), ["numbers > −1"]),
    (lambda x: torch.log(torch.cosh(x)), []),
    (lambda x: torch.log1p(torch.sigmoid(x)), []),
    (lambda x: torch.sqrt(torch.tanh(torch.relu(x))), []),
    (lambda x: torch.sqrt(torch.acos(torch.sin(x))), ["numbers x where −1 ≤ x ≤ 1"]),
    (lambda x: torch.log(F.softplus(x, 2.0)), []),
    (lambda x: torch.log(F.softplus(x, -1.0)), ["numbers > 0"]),      # which is below 0
])
def test_a_comparison_demands_what_is_not_known_of_a_sign(function, demands) -> None:
    graph = capture(lambda x: (function(x) < 0.5).float(), GIVEN)
    found = [words for _, words in _demands(graph, GIVEN, ()) if "a comparison hangs on it" in words]
    assert [words.split(" is given ")[1].split(":")[0] for words in found] == demands
