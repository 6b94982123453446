"""Which of several equal tensors is which: names, then places, then uses; and what contradicts them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.capture import capture
from samesame.operators.execute import execute
from samesame.relate.buffers import buffers_as_weights
from samesame.relate.layout import Whole, values, wholes
from samesame.relate.pairing import Clues, Group, Modules, numbered, uses
from samesame.relate.parameters import NAME, PLACE, USE, digest, relate_parameters, repeats

ONES, ZEROS = torch.ones(6), torch.zeros(6)


def matrix(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (6, 6)), generator=torch.Generator().manual_seed(seed))


def group(lefts: str, rights: str, anchors=None, **clues) -> Group:
    anchors = anchors or {}
    return Group(tuple(lefts.split()), tuple(rights.split()), Clues(anchors, Modules(anchors), **clues))


def test_names_that_both_sides_have_decide():
    both = group("a b c", "c b a")
    assert both.assigned() == {"a": "a", "b": "b", "c": "c"} and both.decided_by_name
    assert both.contradicts({"a": "b", "b": "a", "c": "c"})


def test_counting_from_another_number_is_no_contradiction_and_a_swap_is():
    shifted = group("n1 n2 n3", "n0 n1 n2")
    assert not shifted.decided_by_name
    assert not shifted.contradicts({"n0": "n1", "n1": "n2", "n2": "n3"})
    assert shifted.contradicts({"n0": "n3", "n1": "n2", "n2": "n1"})


LAYERS = {"h.0.fc.w": ("m.layers.0.lin.w",), "h.1.fc.w": ("m.layers.1.lin.w",), "head": ("m.out.w",)}


def test_modules_correspond_that_hold_the_same_weights():
    norms = group("m.norm m.layers.1.norm m.layers.0.norm", "h.0.ln h.1.ln last", LAYERS)
    assert norms.assigned() == {"h.0.ln": "m.layers.0.norm", "h.1.ln": "m.layers.1.norm", "last": "m.norm"}
    assert norms.decided_by_place
    assert norms.contradicts({"h.0.ln": "m.layers.1.norm", "h.1.ln": "m.layers.0.norm", "last": "m.norm"})


def test_places_do_not_decide_where_modules_hold_more_on_one_side():
    """A norm that moved to the next layer: what stood behind a layer stands before the next one."""
    moved = group("m.layers.0.after m.layers.1.after", "h.1.before last", LAYERS)
    assert not moved.decided_by_place
    assert not moved.contradicts({"h.1.before": "m.layers.0.after", "last": "m.layers.1.after"})


def test_a_fused_weight_says_which_module_holds_its_parts():
    anchors = {"h.0.qkv.w": ("l.0.q.w", "l.0.k.w"), "h.1.qkv.w": ("l.1.q.w", "l.1.k.w")}
    assert group("l.1.n l.0.n", "h.0.n h.1.n", anchors).assigned() == {"h.0.n": "l.0.n", "h.1.n": "l.1.n"}


def test_numbered_lists_run_in_the_same_direction():
    lists = group("l.0.n l.1.n l.2.n", "s.1 s.0 s.2")
    assert lists.assigned() == {"s.0": "l.0.n", "s.1": "l.1.n", "s.2": "l.2.n"}
    assert lists.contradicts({"s.1": "l.0.n", "s.0": "l.1.n", "s.2": "l.2.n"})


def test_numbered_lists_may_run_backwards_where_others_do():
    backwards = {"w.0": ("l.1.w",), "w.1": ("l.0.w",)}
    turned = group("l.0.n l.1.n", "s.1 s.0", backwards)
    assert turned.assigned() == {"s.1": "l.0.n", "s.0": "l.1.n"}


@pytest.mark.parametrize("name, pattern", [
    ("layers.3.norm", ("layers.#.norm", 3)), ("norm2", ("norm#", 2)), ("norm", ("norm", -1)),
    ("block1.layers.7", ("block1.layers.#", 7)),
])
def test_the_number_of_a_name(name, pattern):
    assert numbered(name) == pattern


def test_uses_tell_a_gate_from_what_it_gates():
    x, w = matrix(0, 3, 6), matrix(1)

    class Gated(torch.nn.Module):
        def __init__(self, swish):
            super().__init__()
            self.a, self.b, self.swish = torch.nn.Parameter(w.clone()), torch.nn.Parameter(w.clone()), swish

        def forward(self, x):
            return (self.swish(x @ self.a) * (x @ self.b)).cumsum(-1)

    def by_hand(y):
        return y * torch.sigmoid(y)

    def told(program):
        graph = capture(program, (x,))
        return uses(graph, execute(graph, graph.tensors), ["a", "b"])

    mine, yours = told(Gated(torch.nn.functional.silu)), told(Gated(by_hand))
    pairs = group("b a", "gate up", uses=(mine, {"gate": yours["a"], "up": yours["b"]}))
    assert pairs.assigned() == {"gate": "a", "up": "b"}


def related(left, right, **options):
    return relate_parameters(left, right, shared=False, **options)


def test_how_a_weight_was_paired_is_said():
    left = {"l.0.w": matrix(0), "l.0.b": ZEROS, "l.1.w": matrix(1), "l.1.b": ZEROS, "n": ONES, "m": ONES}
    right = {"h.0.w": matrix(0), "h.0.b": ZEROS, "h.1.w": matrix(1), "h.1.b": ZEROS, "n": ONES, "o": ONES}
    found = related(left, right)
    assert {name: str(layout) for name, layout in found.layouts.items()} == {
        "h.0.w": "l.0.w", "h.0.b": "l.0.b", "h.1.w": "l.1.w", "h.1.b": "l.1.b", "n": "n", "o": "m"}
    assert found.how == {"h.0.b": PLACE, "h.1.b": PLACE, "n": NAME, "o": USE}


PACKED = {
    "rows": lambda q, k: torch.cat([q, k]),
    "columns of transposes": lambda q, k: torch.cat([q.T, k.T], 1),
    "the other order": lambda q, k: torch.cat([k, q]),
}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_a_zero_bias_is_packed_as_its_matrix_is(pack):
    q, k = matrix(0), matrix(1)
    left = {"a.q.weight": q, "a.q.bias": ZEROS, "a.k.weight": k, "a.k.bias": ZEROS}
    found = related(left, {"qk.weight": pack(q, k), "qk.bias": torch.zeros(12)})
    assert not found.unpaired_left and not found.unpaired_right
    marked = {"a.q.bias": torch.arange(6.0), "a.k.bias": torch.arange(6.0) + 6}
    rows = {name.replace("bias", "weight"): mark[:, None].expand(6, 6) for name, mark in marked.items()}
    bias, weight = (found.layouts[f"qk.{name}"] for name in ("bias", "weight"))
    whole = values(weight, rows.__getitem__)
    assert torch.equal(values(bias, marked.__getitem__), whole[:, 0] if whole.shape[0] == 12 else whole[0])


def test_each_left_weight_is_in_one_right_weight():
    left = {"a": ONES, "b": ONES}
    assert related(left, {"c": ONES, "d": ONES, "e": ONES}).unpaired_right == ["e"]
    assert related({"w": matrix(0)}, {"w": matrix(0), "copy": matrix(0).T.contiguous()}).unpaired_right == ["copy"]
    assert related({"w": matrix(0)}, {"w": matrix(0), "top": matrix(0)[:3]}).unpaired_right == ["top"]
    assert related(left, {"c": ONES}).unpaired_left == ["b"]


def test_ranks_may_share_a_weight():
    found = relate_parameters({"a": ONES, "w": matrix(0)}, {"r0": ONES, "r1": ONES, "p": matrix(0), "q": matrix(0)})
    assert found.layouts == {"r0": Whole("a"), "r1": Whole("a"), "p": Whole("w"), "q": Whole("w")}


@pytest.mark.parametrize("factor, text", [(0.5, "1/2·w"), (-1.0, "-1·w"), (8.0, "8·w"), (0.375, "3/8·w")])
def test_an_exact_multiple_is_found(factor, text):
    sevenths, whole = torch.arange(-20, 20).reshape(5, 8) / 7, torch.arange(40.0)
    assert str(related({"w": whole}, {"v": whole * factor}).layouts["v"]) == text
    rounded = related({"w": sevenths}, {"v": sevenths * factor}).unpaired_right
    assert rounded == (["v"] if factor == 0.375 else [])


def test_a_multiple_that_is_rounded_is_none():
    assert related({"w": matrix(0)}, {"v": matrix(0) * 0.3}).unpaired_right == ["v"]


def test_what_repeats_says_little():
    held = {"a": ONES, "w": matrix(0), "copy": matrix(0), "top": matrix(1)[:2], "v": matrix(1), "half": matrix(2) / 2,
            "u": matrix(2), "own": matrix(3)}
    keys = {name: digest(value) for name, value in held.items()}
    assert set(repeats(held, keys, held)) >= {"a", "w", "copy", "top", "half"}
    assert "own" not in repeats(held, keys, held)
    assert wholes(repeats(held, keys, ["top"])["top"]) == ("v",)
    assert "top" not in repeats(held, keys, []), "only what has no partner is looked for in others"


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(5)), st.permutations(range(5)))
def test_equal_tensors_are_paired_one_to_one_in_any_order(mine, yours):
    left = {f"layers.{k}.norm": ONES for k in mine} | {f"layers.{k}.w": matrix(k) for k in mine}
    right = {f"h.{k}.ln": ONES for k in yours} | {f"h.{k}.w": matrix(k) for k in yours}
    found = related(left, right)
    pairs = {"ln": "norm", "w": "w"}
    assert found.layouts == {f"h.{k}.{a}": Whole(f"layers.{k}.{b}") for k in range(5) for a, b in pairs.items()}


def norms(**buffers):
    class Norms(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in buffers.items():
                self.register_buffer(name, value)

        def forward(self, x):
            for name in buffers:
                x = torch.tanh(x + getattr(self, name))
            return x

    return capture(Norms(), (matrix(0, 2, 6),))


def test_buffers_that_hold_one_number_on_both_sides_are_weights_and_tables_are_none():
    table = matrix(5, 6)
    both = norms(zeros=ZEROS, table=table)
    assert buffers_as_weights((both, both)) == (frozenset({"zeros"}), frozenset({"zeros"}))
    assert buffers_as_weights((norms(table=table), norms(other=table))) == (frozenset(), frozenset())
    assert buffers_as_weights((norms(zeros=ZEROS), norms(table=table))) == (frozenset(), frozenset())


def test_one_scalar_is_a_number_and_several_equal_ones_are_weights():
    one, two = norms(a=torch.ones(())), norms(a=torch.ones(()), b=torch.ones(()))
    assert buffers_as_weights((one, one)) == (frozenset(), frozenset())
    assert buffers_as_weights((two, two)) == (frozenset("ab"), frozenset("ab"))
