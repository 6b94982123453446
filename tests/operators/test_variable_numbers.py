"""A number that an operator takes may be a variable, as in the rules that blocks become: a meaning then says what torch
does with every number, or that it has no formula for that. It never fails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from meaning_samples import Call
from test_meanings import OPERATORS, Leaves, agrees, calls_of, comparable

from samesame.formula.expr import Unsupported
from samesame.graph.text import variable
from samesame.operators import meaning_of
from samesame.operators.explain import bind
from samesame.relate.generalise import PLAIN, argument_kinds


class Varied(Leaves):
    """Torch's arguments, with a variable for every decimal number that `generalise` makes one."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def number(self, kind: str, argument: Any) -> Any:
        if isinstance(argument, list | tuple):
            return tuple(self.number(kind, part) for part in argument)
        plain = not isinstance(argument, float) or not math.isfinite(argument) or abs(argument) in PLAIN
        if kind != "number" or plain:
            return self.of(argument)
        self.count += 1
        self.values[f"c{self.count}"] = np.array(argument)
        return variable(f"c{self.count}")


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_number_may_be_a_variable(operator: str) -> None:
    for call in filter(comparable, calls_of(operator)):
        check(call)


def check(call: Call) -> None:
    kinds, leaves = argument_kinds(call.operator), Varied()
    args = tuple(leaves.number(kinds.get(k, ""), value) for k, value in enumerate(call.args))
    kwargs = {name: leaves.number(kinds.get(name, ""), value) for name, value in call.kwargs.items()}
    meaning = meaning_of(call.operator)
    if meaning is None or not leaves.count:
        return
    try:
        positional, named = bind(call.operator, args, kwargs)
        result = meaning(*positional, **named)
        expected = call.result if isinstance(call.result, tuple | list) else (call.result,)
        for formula, torchs in zip(result if isinstance(result, tuple) else (result,), expected, strict=True):
            agrees(formula, torchs, leaves, f"{call.operator} of a variable")
    except Unsupported:
        return
