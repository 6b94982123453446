"""Blocks: a claim stops at what both sides hold, and equal claims about other tensors have one key."""

import pytest
import torch

from samesame.graph import Graph, Node, TensorType
from samesame.relate.blocks import TooLarge, cut
from samesame.relate.joint import JointGraph
from samesame.relate.layout import Concat, Reshape, Whole


class Build:
    """A graph written node by node."""

    def __init__(self):
        self.nodes = []
        self.tensors = {}

    def __call__(self, name, operator, *args, shape, dtype="float32", **kwargs):
        node = Node(name, operator, args, kwargs, TensorType(shape, dtype))
        self.nodes.append(node)
        return node

    def graph(self, *roots):
        return Graph("g", tuple(self.nodes), tuple((root.name, root) for root in roots), self.tensors)


def chain(layers, factor="aten.silu.default"):
    """x → [linear, activation] per layer, all widths 7."""
    g = Build()
    x = g("x", "input", shape=(5, 7))
    for k in range(layers):
        w = g(f"w{k}", "parameter", shape=(7, 7))
        y = g(f"y{k}", "aten.linear.default", x, w, shape=(5, 7))
        x = g(f"z{k}", factor, y, shape=(5, 7))
    return g.graph(x)


def joint_of(left, right, layouts=None):
    joint = JointGraph()
    joint.add_graph("left", left, {}, {}, {})
    names = {node.name: joint.term[node] for node in left.sources("parameter")}
    same = {node.name: Whole(node.name) for node in right.sources("parameter")}
    joint.add_graph("right", right, {}, layouts or same, names)
    return joint


def test_the_same_program_twice_is_one_set_of_terms():
    left, right = chain(3), chain(3)
    joint = joint_of(left, right)
    assert all(joint.term[a] == joint.term[b] for a, b in zip(left.nodes, right.nodes, strict=True))


def test_a_block_stops_at_what_is_established_and_layers_share_a_key():
    left, right = chain(3), chain(3, "aten.relu.default")
    joint = joint_of(left, right)
    keys = []
    for k in range(3):
        a, b = joint.term[left[f"z{k}"]], joint.term[right[f"z{k}"]]
        block = cut(joint, a, b, Whole(f"z{k}"))
        keys.append(block.key)
        assert len(block.graph.sources("input")) == 2, "the layer's input and its weight"
        joint.establish(a, b, Whole(f"z{k}"), "evidence")
    assert len(set(keys)) == 1


@pytest.mark.parametrize("change", ["operator", "number", "layout", "operands"])
def test_another_claim_has_another_key(change):
    def side(scale=2.0, operator="aten.mul.Tensor", swap=False):
        g = Build()
        x, y = g("x", "input", shape=(4, 4)), g("y", "input", shape=(4, 4))
        z = g("z", operator, x, scale, shape=(4, 4))
        return g.graph(g("out", "aten.sub.Tensor", *((y, z) if swap else (z, y)), shape=(4, 4)))

    def key(right, layout=None):
        left, layout = side(), layout or Whole("out")
        joint = joint_of(left, right)
        return cut(joint, joint.term[left["out"]], joint.term[right["out"]], layout).key

    plain = key(side(3.0))
    other = {
        "operator": lambda: key(side(3.0, "aten.div.Tensor")),
        "number": lambda: key(side(4.0)),
        "layout": lambda: key(side(3.0), Reshape(Reshape(Whole("out"), (16,)), (4, 4))),
        "operands": lambda: key(side(3.0, swap=True)),
    }[change]()
    assert plain != other


def test_one_tensor_used_twice_is_not_two_tensors():
    def side(operator, same):
        g = Build()
        x, y = g("x", "input", shape=(4,)), g("y", "input", shape=(4,))
        return g.graph(g("out", operator, x, x if same else y, shape=(4,)))

    def key(same):
        left, right = side("aten.add.Tensor", same), side("aten.mul.Tensor", same)
        joint = joint_of(left, right)
        return cut(joint, joint.term[left["out"]], joint.term[right["out"]], Whole("out")).key

    assert key(True) != key(False)


def test_a_fused_weight_is_seen_as_its_parts():
    g = Build()
    x = g("x", "input", shape=(5, 7))
    a, b = g("a", "parameter", shape=(3, 7)), g("b", "parameter", shape=(4, 7))
    ya, yb = g("ya", "aten.linear.default", x, a, shape=(5, 3)), g("yb", "aten.linear.default", x, b, shape=(5, 4))
    left = g.graph(ya, yb)
    h = Build()
    x, ab = h("x", "input", shape=(5, 7)), h("ab", "parameter", shape=(7, 7))
    y = h("y", "aten.linear.default", x, ab, shape=(5, 7))
    ya, yb = (h(n, "aten.slice.Tensor", y, 1, a, b, shape=(5, b - a)) for n, a, b in (("ya", 0, 3), ("yb", 3, 7)))
    right = h.graph(ya, yb)
    joint = joint_of(left, right, {"ab": Concat((Whole("a"), Whole("b")), 0)})
    block = cut(joint, joint.term[left["yb"]], joint.term[right["yb"]], Whole("yb"))
    assert [node.operator for node in block.graph.nodes].count("aten.cat.default") == 1
    assert len(block.frontier) == 3


def test_equal_constants_of_both_sides_are_one_class_whatever_their_dtype():
    def side(dtype, value):
        g = Build()
        x = g("x", "input", shape=(3,))
        t = g("table", "constant", shape=(3,), dtype=str(dtype).removeprefix("torch."))
        g.tensors["table"] = torch.tensor([0.5, 1.0, value], dtype=dtype)
        return g.graph(g("out", "aten.mul.Tensor", x, t, shape=(3,)))

    def equal(a, b):
        left, right = side(*a), side(*b)
        joint = joint_of(left, right)
        return joint.egraph.equal(joint.term[left["out"]], joint.term[right["out"]])

    assert equal((torch.float32, 0.25), (torch.float64, 0.25))
    assert not equal((torch.float32, 0.1), (torch.float64, 0.1)), "0.1 is another number in float32"


def test_a_claim_that_reaches_too_far_is_refused():
    left, right = chain(40), chain(40, "aten.relu.default")
    joint = joint_of(left, right)
    a, b = joint.term[left["z39"]], joint.term[right["z39"]]
    with pytest.raises(TooLarge):
        cut(joint, a, b, Whole("z39"), opened=frozenset(), limit=50)
