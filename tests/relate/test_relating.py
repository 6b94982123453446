"""Relating: layers cost no proofs of their own, a mistake keeps what is above it unrelated, and every equality that
the joint graph holds can be explained and replayed."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import opaque_operators  # noqa: F401    registers them
from explanations import replay
from samesame import check
from samesame.capture import capture
from samesame.certificate.replay import replay as certified
from samesame.evidence import Rung
from samesame.formula.expr import Add, Size, const, mul
from samesame.graph import Graph, Node, TensorType
from samesame.relate.blocks import cut
from samesame.relate.draws import take_draws
from samesame.relate.joint import JointGraph, typed
from samesame.relate.layout import Permute, Reshape, Whole
from samesame.relate.prove import Prover
from samesame.relate.relating import input_relation, relate
from samesame.relate.sized import closed_values

HEADS, SIZE, HIDDEN = 3, 4, 12


def test_sizes_that_are_written_otherwise_are_one_type():
    rows = Size("B", 2)
    as_written, multiplied = (TensorType((size, 3), "float32") for size in (Add((rows, rows)), mul(const(2), rows)))
    assert typed(as_written) == typed(multiplied)


class Plain(nn.Module):
    """Attention and a gated MLP per layer: separate projections, [batch, heads, time, size]."""

    def __init__(self, layers):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(
            nn.ModuleDict({n: nn.Linear(HIDDEN, HIDDEN) for n in ("q", "k", "v", "o", "gate", "up")})
            for _ in range(layers)
        )

    def forward(self, x):
        batch, length, _ = x.shape
        for layer in self.layers:
            q, k, v = (layer[n](x).view(batch, length, HEADS, SIZE).transpose(1, 2) for n in "qkv")
            mixed = torch.softmax(q @ k.transpose(2, 3) / SIZE**0.5, -1) @ v
            x = x + layer["o"](mixed.transpose(1, 2).reshape(batch, length, HIDDEN))
            x = x + F.silu(layer["gate"](x)) * layer["up"](x)
        return x


class Packed(nn.Module):
    """The same from fused weights, with all tokens in one row: [tokens, heads · size]."""

    def __init__(self, plain, wrong=()):
        super().__init__()
        self.wrong = wrong
        self.layers = nn.ModuleList()
        for layer in plain.layers:
            mine = nn.Module()
            for name, parts in {"qkv": "qkv", "o": "o", "both": ("gate", "up")}.items():
                for kind in ("weight", "bias"):
                    joined = torch.cat([getattr(layer[p], kind) for p in parts]).detach()
                    mine.register_parameter(f"{name}_{kind}", nn.Parameter(joined))
            self.layers.append(mine)

    def forward(self, x):
        batch, length, _ = x.shape
        x = x.reshape(-1, HIDDEN)
        for number, layer in enumerate(self.layers):
            q, k, v = F.linear(x, layer.qkv_weight, layer.qkv_bias).split(HIDDEN, -1)
            q, k, v = (part.view(batch, length, HEADS, SIZE) for part in (q, k, v))
            scores = torch.einsum("bthd,bshd->tbhs", q, k) * SIZE**-0.5
            mixed = torch.einsum("tbhs,bshd->bthd", F.softmax(scores, dim=-1), v).reshape(-1, HIDDEN)
            x = x + F.linear(mixed, layer.o_weight, layer.o_bias)
            gate, up = F.linear(x, layer.both_weight, layer.both_bias).chunk(2, -1)
            x = x + (F.relu(gate) if number in self.wrong else gate * torch.sigmoid(gate)) * up
        return x.view(batch, length, HIDDEN)


def related(left, right, inputs):
    """The two programs, related as `check` relates them."""
    graphs = capture(left, inputs, name="left"), capture(right, inputs, name="right")
    relation = input_relation(*graphs)
    _, values = take_draws(graphs, relation.layouts, 0)
    constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
    return relate(*graphs, relation, values, constants, Prover())


def tokens():
    return (torch.randn(2, 5, HIDDEN, generator=torch.Generator().manual_seed(1)),)


def root_evidence(relating):
    ((_, left),), ((_, right),) = relating.left.roots, relating.right.roots
    return relating.root_evidence(left, right)


@pytest.fixture(scope="module")
def six():
    plain = Plain(6)
    return related(plain, Packed(plain), tokens())


def test_layers_cost_no_proofs_of_their_own(six):
    plain = Plain(2)
    two = related(plain, Packed(plain), tokens())
    assert two.prover.proofs == six.prover.proofs > 0
    assert two.prover.attempts == six.prover.attempts
    assert six.prover.by_rule > two.prover.by_rule > 0


def test_the_same_block_in_another_layer_is_related_by_rule_with_the_proof_of_the_first(six):
    evidence = [known for _, _, known in six.related.values()]
    rules = [known for known in evidence if known.method == "rule"]
    proofs = {known.proof for known in evidence if known.method in ("normal form", "smt")}
    assert rules and {known.proof for known in rules} <= proofs
    assert all(known.rung is Rung.PROVED_HERE for known in evidence)
    assert root_evidence(six).rung is Rung.PROVED_HERE


def test_layouts_between_rows_of_tokens_and_heads_are_found(six):
    layouts = {right.name: (left.operator, layout) for right, (left, layout, _) in six.related.items()}
    rows = "aten.linear.default", Reshape(Whole("linear"), (10, HIDDEN))
    assert layouts["getitem"] == rows, "[batch, time, hidden] against [tokens, hidden]"
    turned = "aten.softmax.int", Permute(Whole("softmax"), (2, 0, 1, 3))
    assert layouts["softmax"] == turned, "[batch, heads, time, time] against [time, batch, heads, time]"


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_a_wrong_layer_and_all_above_it_stay_unrelated(wrong):
    plain = Plain(3)
    relating = related(plain, Packed(plain, wrong=(wrong,)), tokens())
    ends = [node for node in relating.right.nodes if node.operator == "aten.add.Tensor"][1::2]
    assert [end in relating.related for end in ends] == [number < wrong for number in range(3)]
    ours = [n for n in relating.related if not n.is_source and n.origin.module == ""]
    last = max(relating.right.nodes.index(n) for n in ours)
    assert last < relating.right.nodes.index(ends[wrong])
    assert relating.right.roots[0][1] not in relating.related


def test_every_union_can_be_explained_and_replayed(six):
    graph = six.joint.egraph
    pairs = [pair for stated in graph.evidence.values() for pair in stated]
    (_, left), (_, right) = six.left.roots[0], six.right.roots[0]
    assert len(pairs) > 6
    pairs += [
        (six.joint.term[mine], six.joint.term[right])
        for right, (mine, layout, _) in six.related.items()
        if isinstance(layout, Whole)
    ]
    for a, b in pairs:
        explanation = graph.explain(a, b)
        replay(explanation, explanation.terms, (), graph.evidence)
    assert isinstance(six.related.get(right, (None, Whole("")))[1], Whole)
    believed = dict(graph.evidence)
    told = graph.explain(six.joint.term[left], six.joint.term[right])
    replay(told, told.terms, (), believed)
    assert told.steps
    with pytest.raises(Exception, match="was not given for this pair"):
        replay(told, told.terms, (), {})


# ------------------------------------------------------------------------------------------------- opaque operators


def row():
    return (torch.randn(3, 7, generator=torch.Generator().manual_seed(2)),)


def test_both_sides_call_the_opaque_operator_on_equal_tensors():
    opaque = torch.ops.planted.clipped
    relating = related(lambda x: opaque(x + x), lambda x: opaque(2 * x) * 1.0, row())
    methods = {node.operator: known.method for node, (_, _, known) in relating.related.items()}
    assert methods["planted.clipped.default"] == "congruence"
    assert root_evidence(relating).rung is Rung.PROVED_HERE


def test_one_side_spells_it_out_and_is_tested():
    relating = related(lambda x: torch.ops.planted.swish(x) + 1, lambda x: x / (1 + torch.exp(-x)) + 1, row())
    found = [known for _, _, known in relating.related.values() if known.rung is Rung.TESTED]
    assert [known.method for known in found] == ["test"]
    told = ("planted.swish", "15 draws", "ties", "not tried: NaN", "tolerance 1e-09", "worst difference", "float64")
    for said in (*told, "seed 0"):
        assert said in found[0].detail


def test_no_test_passes_where_values_part_on_another_scale():
    """They agree on everything the programs see, and not on values ten times as large."""
    relating = related(lambda x: torch.ops.planted.clipped(x) + 1, lambda x: x / (1 + torch.exp(-x)) + 1, row())
    assert root_evidence(relating) is None
    assert all(known.rung is not Rung.TESTED for _, _, known in relating.related.values())


def claim(operator):
    """x · sigmoid(x) against an operator, as a block."""
    kind = TensorType((3, 7), "float64")
    x = Node("x", "input", (), {}, kind)
    left = Node("left", operator, (x,), {}, kind)
    gate = Node("gate", "aten.sigmoid.default", (x,), {}, kind)
    right = Node("right", "aten.mul.Tensor", (x, gate), {}, kind)
    mine, yours = Graph("l", (x, left), (("0", left),)), Graph("r", (x, gate, right), (("0", right),))
    joint = JointGraph()
    joint.add_graph("left", mine, {}, {}, {})
    joint.add_graph("right", yours, {}, {}, {})
    return cut(joint, joint.term[left], joint.term[right], Whole("left"))


def test_what_draws_random_numbers_is_never_tested():
    assert Prover().decide(claim("planted.swish.default")).rung is Rung.TESTED
    assert Prover().decide(claim("planted.noisy.default")) is None


def test_an_opaque_operator_on_another_dtype_is_not_proved_to_be_the_same():
    """What it computes may depend on the dtype, so a cast before it is no identity; tests run both in float64."""
    relating = related(
        lambda x: torch.ops.planted.step(x.double()).float(),
        lambda x: torch.ops.planted.step(x),
        row(),
    )
    assert root_evidence(relating).rung is Rung.TESTED


# --------------------------------------------------------------------------------------------------------- constants


def angles(times):
    table = torch.outer(torch.arange(5.0), 0.7 ** torch.arange(3.0)).cos()
    return table if times is None else table.repeat(times)


def test_a_table_and_its_repetition_are_one_table():
    relating = related(
        lambda x: x * angles(None),
        lambda x: x * angles((1, 2))[:, :3],
        (torch.randn(2, 5, 3),),
    )
    assert root_evidence(relating).rung is Rung.PROVED_HERE


def test_a_table_that_differs_in_one_number_is_another_table():
    def nudged(x):
        table = angles(None)
        table[3, 1] += 1e-5
        return x * table

    relating = related(lambda x: x * angles(None), nudged, (torch.randn(2, 5, 3),))
    assert root_evidence(relating) is None


def test_a_mask_is_known_by_how_it_was_made():
    def by_positions(x):
        i = torch.arange(5)
        return x.masked_fill(i[:, None] < i, 0.0)

    relating = related(lambda x: x * torch.ones(5, 5).tril(), by_positions, (torch.randn(2, 5, 5),))
    assert root_evidence(relating).rung is Rung.PROVED_HERE


# ------------------------------------------------------------------------------------------------------------- sources


def test_constants_are_looked_into_before_what_is_tied_to_the_rest():
    """Of a table in place of numbers nothing need be known of a sum but that both sides have it."""
    weights = torch.tensor([1 / 4, 1 / 2, 1.0])

    def left(x):
        terms = x.exp()
        whole = terms.sum(0)
        return torch.stack([w * (row / whole) for w, row in zip(weights.tolist(), terms, strict=True)])

    def right(x):
        terms = x.exp()
        return weights.clone()[:, None] * terms / terms.sum(0)

    relating = related(left, right, (torch.randn(3, 4),))
    assert root_evidence(relating).rung is Rung.PROVED_HERE
    held = {relating.joint.egraph.term(name).operator for name in relating.uses[-1].block.frontier.values()}
    assert held == {"aten.exp.default", "aten.sum.dim_IntList"}


def test_a_root_that_is_an_input_is_related():
    assert root_evidence(related(lambda x: x * 1.0, lambda x: x, row())).rung is Rung.PROVED_HERE
    assert root_evidence(related(lambda x: x, lambda x: (x + x) / 2, row())).rung is Rung.PROVED_HERE


def test_integers_that_may_wrap_around_are_not_the_integers_they_come_from():
    integers = (torch.arange(12).reshape(3, 4),)
    assert root_evidence(related(lambda n: n + 0, lambda n: n.to(torch.int8).to(torch.int64), integers)) is None
    assert root_evidence(related(lambda n: n * 9, lambda n: (n.to(torch.uint8) * 9).long(), integers)) is None
    assert root_evidence(related(lambda n: n + 0, lambda n: n.to(torch.int32).long(), integers)) is not None


# --------------------------------------------------------------------------------------------------------- rectified


def backpropagated(through):
    """A hidden layer and the gradient of what goes into it, let `through` where it says."""

    def program(x, weight, gradient):
        before = x @ weight
        after = torch.relu(before)
        return after, torch.where(through(before, after), gradient, 0.0) @ weight.T

    return program


def hidden():
    dice = torch.Generator().manual_seed(3)
    return tuple(torch.randn(shape, generator=dice) for shape in [(5, 6), (6, 4), (5, 4)])


@pytest.mark.parametrize("through", [lambda before, _: before > 0, lambda _, after: ~(after <= 0)])
def test_a_gradient_goes_through_relu_by_what_comes_in_or_by_what_comes_out(through):
    verdict = check(backpropagated(lambda _, after: after > 0), backpropagated(through), hidden(), certify=True)
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED
    checked, _ = certified(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("through, told", [
    (lambda before, _: before > -0.5, "different"),
    (lambda _, after: after >= 0, "different"),
    (lambda before, _: before >= 0, "undecided"),          # another gradient at 0 alone, where no draw comes
])
def test_a_gradient_that_goes_through_elsewhere_is_another(through, told):
    assert check(backpropagated(lambda _, after: after > 0), backpropagated(through), hidden()).verdict == told


def one_by_one(x, weights):
    total = torch.zeros_like(x)
    for k in range(weights.shape[0]):
        total = total + weights[k] * torch.cos(k * x)
    return total


def at_once(x, weights, first=0):
    return (weights * torch.cos(x[..., None] * torch.arange(first, first + weights.shape[0]))).sum(-1)


def test_an_output_may_be_a_claim_of_many_operators():
    """350 of them, between the inputs and the output nothing that both sides have."""
    given = torch.randn(3, 4), torch.randn(70)
    assert check(one_by_one, at_once, given).verdict == "same"
    assert check(one_by_one, lambda *both: at_once(*both, first=1), given).verdict == "different"
