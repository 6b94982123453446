"""A block of any operator has a general form, which has a meaning or is refused: with every size a symbol and every
number a size or a variable, a meaning never fails otherwise."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import torch
from meaning_samples import Known
from test_engine_meanings import samples, standing_in
from test_meanings import OPERATORS, calls_of, comparable

from samesame.formula.expr import Unsupported
from samesame.graph import Dtype, Graph, Node, TensorType
from samesame.operators.definitions import DEFINED, STANDING_IN
from samesame.operators.execute import resolve
from samesame.relate import rules
from samesame.relate.blocks import Block, key_of
from samesame.relate.meanings import meanings

NONE = TensorType((), "NoneType")
OTHER = 1.37                                               # a number that becomes a variable, as 0.5 does not


def type_of(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return tuple(map(type_of, result))
    if result is None:                                     # a gradient that is not asked for
        return NONE
    return TensorType(tuple(result.shape), str(result.dtype).removeprefix("torch."))


def block_of(operator: str, args: Any, kwargs: dict[str, Any], result: Any) -> Block:
    """The claim that the first result of a call is itself, of any tensors of these shapes."""
    nodes: list[Node] = []

    def given(argument: Any) -> Any:
        argument = argument.value if isinstance(argument, Known) else argument
        if isinstance(argument, torch.Tensor):
            nodes.append(Node(f"x{len(nodes)}", "input", type=type_of(argument)))
            return nodes[-1]
        if isinstance(argument, torch.dtype):
            return Dtype(str(argument).removeprefix("torch."))
        return tuple(map(given, argument)) if isinstance(argument, list | tuple) else argument

    call = Node("t", operator, given(args), {name: given(value) for name, value in kwargs.items()}, type_of(result))
    nodes.append(call)
    if isinstance(call.type, tuple):
        place, kind = next((k, kind) for k, kind in enumerate(call.type) if kind != NONE)
        nodes.append(Node("first", "getitem", (call, place), type=kind))
    graph = Graph("block", tuple(nodes), (("left", nodes[-1]), ("right", nodes[-1])))
    return Block(graph, {}, {}, False, key_of(graph, {}))


def read_in_general(block: Block) -> int:
    """Work out what each general form of it means; how many there are."""
    forms = [*rules._generals(block)]
    for key, general in forms:
        with suppress(Unsupported):
            left, _ = meanings(replace(block, graph=general.graph, ranges=general.ranges, key=key))
            left.element()
    return len(forms)


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_general_form_has_a_meaning_or_is_refused(operator: str) -> None:
    for call in filter(comparable, calls_of(operator)):
        read_in_general(block_of(call.operator, call.args, call.kwargs, call.result))


@pytest.mark.parametrize("operator", sorted({*DEFINED, *STANDING_IN}))
def test_so_has_one_of_an_engine(operator: str) -> None:
    found = 0
    for name, args, kwargs in (*samples(), *standing_in()):
        if name == operator:
            args = tuple(OTHER if isinstance(one, float) and one else one for one in args)
            result = (DEFINED.get(name) or resolve(name))(*args, **kwargs)
            found += read_in_general(block_of(name, args, kwargs, result))
    assert found

