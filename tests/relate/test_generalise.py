"""A general block claims more than the block it came from, and this claim among the rest: put the instance's numbers
into it and the block comes back. Equal by chance is equal in the rule, which makes it narrower and never wrong."""

from __future__ import annotations

import pytest
import torch

from samesame.capture import capture
from samesame.evidence import Evidence
from samesame.formula.expr import Expr, Load, Num, Pow
from samesame.formula.sizes import replaced
from samesame.graph import Graph, Node, TensorType
from samesame.relate.blocks import Block, key_of
from samesame.relate.draws import take_draws
from samesame.relate.generalise import General, Instance, generalise
from samesame.relate.prove import Prover
from samesame.relate.relating import input_relation, relate
from samesame.relate.rules import VARIANTS
from samesame.relate.sized import closed_values


def ones(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def blocks(left, right, *inputs) -> list[Block]:
    """The blocks that are decided on the way to relate the two."""
    graphs = capture(left, inputs, name="left"), capture(right, inputs, name="right")
    relation = input_relation(*graphs)
    _, values = take_draws(graphs, relation.layouts, 0)
    constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
    prover = Prover()
    relating = relate(*graphs, relation, values, constants, prover)
    for (_, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True):
        assert relating.root_evidence(a, b) is not None
    return [rule.block for rule in prover.rules.values()]


def heads(x, count):
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


PAIRS = {
    "heads": (lambda x: heads(x, 2).sum(1), lambda x: x[..., :4] + x[..., 4:], (3, 5, 8)),
    "norm": (
        lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
        lambda x: x / torch.sqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + 1e-5),
        (3, 5, 8),
    ),
    "scaled": (lambda x: torch.softmax(x * 8**-0.5, -1), lambda x: torch.softmax(x / 8**0.5, 2), (3, 5, 8)),
    "split": (lambda x: sum(x.split([3, 5], -1)[0].unbind(-1)), lambda x: x.narrow(-1, 0, 3).sum(-1), (3, 5, 8)),
    "halves": (
        lambda x: x * x[:, : x.shape[1] // 2].repeat(1, 2),
        lambda x: torch.cat([half * x[:, : x.shape[1] // 2] for half in x.chunk(2, -1)], -1),
        (2, 8),
    ),
    "equal": (lambda x: x.transpose(0, 1) * 5.0, lambda x: (x * 5.0).permute(1, 0, 2), (5, 5, 5)),
}


def restored(value, instance: Instance):
    """A general argument with the instance's numbers."""
    match value:
        case tuple():
            return tuple(restored(part, instance) for part in value)
        case TensorType():
            return TensorType(restored(value.shape, instance), value.dtype)
        case Node():
            return value.name
        case Load():
            return float(instance.numbers[value.leaf.name])
        case Expr():
            value = replaced(value, dict(instance.sizes))
    match value:
        case Num(number):
            return float(number)
        case Pow(Num(base), exponent):
            return pytest.approx(float(base) ** float(exponent), rel=1e-15)
    return value


def lines(graph: Graph, instance: Instance):
    return [
        (n.name, n.operator, restored(n.args, instance), restored(tuple(n.kwargs.items()), instance),
         restored(n.type, instance))
        for n in graph.nodes
    ]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_a_block_is_an_instance_of_its_general_form(pair):
    left, right, shape = PAIRS[pair]
    found = 0
    for block in blocks(left, right, ones(*shape)):
        for as_sizes, as_variables in VARIANTS:
            general = generalise(block.graph, block.ranges, as_sizes=as_sizes, as_variables=as_variables)
            if general is not None:
                found += 1
                assert lines(general.graph, general.instance) == lines(block.graph, Instance())
                assert not any(isinstance(n, int) and n > 1 for node in general.graph.nodes for n in sizes_of(node))
    assert found


def sizes_of(node: Node):
    return node.type.shape if isinstance(node.type, TensorType) else [n for part in node.type for n in part.shape]


# ------------------------------------------------------------------------------------------- blocks made by hand


def real(*shape) -> TensorType:
    return TensorType(shape, "float64")


def general(x: TensorType, *made: tuple[str, tuple, TensorType], as_sizes=False, as_variables=False) -> General:
    """The general form of operators that are applied one to the other."""
    nodes = [Node("x0", "input", type=x)]
    for k, (operator, args, type_) in enumerate(made):
        nodes.append(Node(f"t{k}", operator, (nodes[-1], *args), type=type_))
    graph = Graph("block", tuple(nodes), (("left", nodes[-1]), ("right", nodes[-1])))
    return generalise(graph, {}, as_sizes=as_sizes, as_variables=as_variables)


def types(found: General) -> list[str]:
    return [str(node.type).removeprefix("float64") for node in found.graph.nodes]


def test_a_reshape_says_that_a_size_is_a_product():
    found = general(real(3, 8), ("aten.view.default", ((3, 2, 4),), real(3, 2, 4)))
    assert types(found) == ["[s0, s1·s2]", "[s0, s1, s2]"]
    assert found.graph.nodes[1].args[1] == found.graph.nodes[1].type.shape
    assert found.instance.sizes == {"s0": 3, "s1": 2, "s2": 4}


def test_a_slice_says_that_a_size_is_a_sum():
    found = general(real(3, 9), ("aten.slice.Tensor", (1, 0, 4), real(3, 4)))
    assert types(found) == ["[s0, s1 + s2]", "[s0, s1]"]
    assert found.graph.nodes[1].args[1:] == (1, 0, found.graph.nodes[1].type.shape[1])


def test_equal_sizes_are_one_symbol_and_one_is_no_size():
    found = general(real(4, 1, 4), ("aten.sin.default", (), real(4, 1, 4)))
    assert types(found) == ["[s0, 1, s0]"] * 2 and found.instance.sizes == {"s0": 4}


def test_a_dimension_a_step_and_the_end_are_no_sizes():
    end = 2**63 - 1
    found = general(real(2, 3, 4), ("aten.slice.Tensor", (2, 0, end, 2), real(2, 3, 2)))
    assert found.graph.nodes[1].args[1:] == (2, 0, end, 2)


def test_a_number_that_equals_a_size_is_one_where_that_is_asked_for():
    mean = ("aten.div.Tensor", (4,), real(3))
    for as_sizes in (True, False):
        found = general(real(4, 3), ("aten.sum.dim_IntList", ((0,),), real(3)), mean, as_sizes=as_sizes)
        number = found.graph.nodes[2].args[1]
        assert number == (found.graph.nodes[0].type.shape[0] if as_sizes else 4)


def test_decimals_are_variables_where_that_is_asked_for_but_not_one_and_two():
    steps = [("aten.add.Tensor", (number,), real(3)) for number in (1e-5, 2.0, 0.3, 1e-5, 7)]
    found = general(real(3), *steps, as_variables=True)
    numbers = [node.args[1] for node in found.graph.nodes[1:]]
    assert isinstance(numbers[0], Load) and numbers[0] is numbers[3] and isinstance(numbers[2], Load)
    assert numbers[2] is not numbers[0] and (numbers[1], numbers[4]) == (2.0, 7)
    assert [node.args[1] for node in general(real(3), *steps).graph.nodes[1:]] == [1e-5, 2.0, 0.3, 1e-5, 7]


def test_two_blocks_are_one_rule_where_only_sizes_differ():
    def key(batch, width, wanted=True):
        dims = (-1,) if wanted else (0,)
        found = general(real(batch, width), ("aten.sum.dim_IntList", (dims,), real(batch if wanted else width)))
        return key_of(found.graph, found.ranges)

    assert key(3, 8) == key(7, 12) != key(4, 4)
    assert key(3, 8) != key(3, 8, wanted=False)


def test_two_halves_stay_two_where_a_batch_of_two_becomes_a_size() -> None:
    left, right, _ = PAIRS["halves"]
    keys = []
    for shape in (2, 8), (3, 10):
        (block,) = blocks(left, right, ones(*shape))
        general = generalise(block.graph, block.ranges, as_sizes=True, as_variables=True)
        keys.append(key_of(general.graph, general.ranges))
        assert {node.args[1] for node in general.graph.nodes if node.operator == "aten.repeat.default"} == {(1, 2)}
    assert keys[0] == keys[1]


def test_heads_that_are_gathered_in_two_steps_are_proved_for_every_number_of_them() -> None:
    """[…, 6, 10] to […, 2, 3, 10] to […, 60]: a sum over 60 at once, and over 2, 3 and 10."""
    weight = ones(30, 60)

    def at_once(x):
        return torch.nn.functional.linear(x.transpose(1, 2).reshape(5, 9, 60), weight).reshape(45, 30)

    def in_steps(x):
        parts = x.transpose(1, 2).reshape(5, 9, 2, 3, 10)
        return torch.nn.functional.linear(parts.reshape(45, 60), weight)

    found = [wide for block in blocks(at_once, in_steps, ones(5, 6, 9, 10)) for wide in generals(block)]
    assert all(isinstance(Prover().prove(wide), Evidence) for wide in found)


def generals(block: Block) -> list[Block]:
    found = generalise(block.graph, block.ranges, as_sizes=True, as_variables=True)
    key = key_of(found.graph, found.ranges)
    return [Block(found.graph, {}, found.ranges, False, key)]
