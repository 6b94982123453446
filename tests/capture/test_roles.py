"""Sizes in terms of roles: what is the same stays the same at any sizes, and the captured graphs are a member."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.capture.ranks.world import lockstep
from samesame.entangle.emit import Emit
from samesame.entangle.roles import Product, Roles
from samesame.entangle.shapes import Mismatch
from samesame.entangle.shrink import Members, Shaped, members
from samesame.evidence import Refused
from samesame.formula.sizes import size_text
from samesame.graph import NOWHERE, Graph, Node, TensorType, at
from samesame.graph.text import text_form
from samesame.operators.execute import execute

SIZES = st.sampled_from([2, 3, 4, 6, 8, 12, 24, 32, 48, 96])


STEPS = ("merge", "split", "permute", "cut", "join", "times", "add")


class Growing:
    """A graph that grows by operators that data draws; every one of them may be applied to what is there."""

    def __init__(self, data: st.DataObject) -> None:
        self.data, self.emit, self.count = data, Emit(), 0
        self.x = self.given([data.draw(SIZES) for _ in range(data.draw(st.integers(1, 3)))])

    def given(self, shape: list[int], dtype: str = "float32") -> Node:
        self.count += 1
        with self.emit.translating(f"x{self.count}", NOWHERE):
            return self.emit.typed("input", TensorType(tuple(shape), dtype))

    def step(self) -> None:
        self.count += 1
        with self.emit.translating(f"n{self.count}", NOWHERE):
            getattr(self, self.data.draw(st.sampled_from(STEPS)))()

    def merge(self) -> None:
        shape = list(self.x.shape)
        if len(shape) > 1:
            d = self.data.draw(st.integers(0, len(shape) - 2))
            self.x = self.emit("aten.view.default", self.x, (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]))

    def split(self) -> None:
        shape = list(self.x.shape)
        d = self.data.draw(st.integers(0, len(shape) - 1))
        if len(shape) < 5:
            front = self.data.draw(st.sampled_from([n for n in range(1, shape[d] + 1) if shape[d] % n == 0]))
            self.x = self.emit("aten.view.default", self.x, (*shape[:d], front, shape[d] // front, *shape[d + 1 :]))

    def permute(self) -> None:
        self.x = self.emit("aten.permute.default", self.x, self.data.draw(st.permutations(range(len(self.x.shape)))))

    def cut(self) -> None:
        d = self.data.draw(st.integers(0, len(self.x.shape) - 1))
        n = self.x.shape[d]
        start = self.data.draw(st.integers(0, n - 1))
        self.x = self.emit("aten.slice.Tensor", self.x, d, start, self.data.draw(st.integers(start + 1, n)))

    def join(self) -> None:
        d = self.data.draw(st.integers(0, len(self.x.shape) - 1))
        if self.x.shape[d] < 200:
            self.x = self.emit("aten.cat.default", (self.x, self.x), d)

    def times(self) -> None:
        """By a new matrix, from the right."""
        weight = self.given([self.x.shape[-1], self.data.draw(SIZES)])
        rows = self.emit("aten.view.default", self.x, (-1, self.x.shape[-1]))
        product = self.emit("aten.mm.default", rows, weight)
        self.x = self.emit("aten.view.default", product, (*self.x.shape[:-1], weight.shape[1]))

    def add(self) -> None:
        """A new tensor of the same shape, or of the last dimensions only."""
        d = self.data.draw(st.integers(0, len(self.x.shape)))
        self.x = self.emit("aten.add.Tensor", self.x, self.given(list(self.x.shape[d:])))

    def graph(self) -> Graph:
        return self.emit.graph("grown", {"out": self.x})


def spread(graph: Graph) -> Members:
    shaped = Shaped([graph])
    shaped.spread()
    return members(shaped)


@settings(max_examples=150)
@given(st.data())
def test_grown_graphs_run_at_small_sizes_and_have_the_captured_one_as_a_member(data: st.DataObject) -> None:
    growing = Growing(data)
    for _ in range(data.draw(st.integers(1, 8))):
        growing.step()
    graph = growing.graph()
    found = spread(graph)
    assert text_form(at(found.over_symbols[0], found.captured)) == text_form(graph)
    assert text_form(at(found.over_symbols[0], found.small)) == text_form(found.shrunk[0])
    small = found.shrunk[0]
    values = execute(small, {node.name: torch.randn(node.shape) for node in small.sources("input")})
    for node in small.nodes:
        assert tuple(values[node.name].shape) == node.shape, node.name
    assert all(n < 40 for n in found.small.values())


SIZE = st.integers(2, 60)


@given(SIZE, SIZE, SIZE, SIZE, st.data())
def test_equal_products_become_one(a: int, b: int, c: int, d: int, data: st.DataObject) -> None:
    """Afterwards both are the same polynomial, and every number is what it was."""
    roles = Roles()
    left = [roles.fresh(a * c), roles.fresh(b * d)]
    right = [roles.fresh(a * b), roles.fresh(c * d)]
    roles.same(Product(tuple(left)), Product(tuple(right)))
    assert roles.key(Product(tuple(left))) == roles.key(Product(tuple(right)))
    for size, number in zip((*left, *right), (a * c, b * d, a * b, c * d), strict=True):
        assert roles.value(roles.plain(size)) == number


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.data())
def test_a_cut_size_is_the_sum_of_its_pieces(pieces: list[int], data: st.DataObject) -> None:
    roles = Roles()
    copies = data.draw(st.integers(1, 3))
    one = roles.fresh(sum(pieces))
    size = roles.total([one] * copies) if copies > 1 else one
    bounds = sorted({0, sum(pieces) * copies, *(data.draw(st.integers(0, sum(pieces) * copies)) for _ in range(3))})
    found = roles.cut(size, bounds)
    assert [roles.value(piece) for piece in found] == [stop - start for start, stop in pairwise(bounds)]
    assert roles.key(roles.total(found)) == roles.key(size)


def test_sizes_that_differ_are_no_role_together() -> None:
    roles = Roles()
    with pytest.raises(Mismatch, match="a size is 4 and 6"):
        roles.same(roles.fresh(4), roles.fresh(6))


def test_graphs_that_do_not_fit_are_refused() -> None:
    growing = Emit()
    with growing.translating("x", NOWHERE):
        x = growing.typed("input", TensorType((4, 6), "float32"))
    with growing.translating("y", NOWHERE):
        y = growing.typed("aten.mm.default", TensorType((4, 4), "float32"), x, x)
    with pytest.raises(Refused, match=r"the sizes of y\.0 \(aten\.mm\.default\) do not fit: a size is 6 and 4"):
        spread(growing.graph("graph", {"out": y}))


def roles_of(graph: Graph, *names: str) -> list[list[str]]:
    found = spread(graph)
    written = {node.name: node for node in found.over_symbols[0].nodes}
    return [[size_text(n) for n in written[name].shape] for name in names]


def test_sizes_are_told_apart_by_what_they_are_used_for() -> None:
    """Width 768 and 12 heads of 64 are one number; a table of 768 rows is another role."""
    emit = Emit()

    def given(name: str, *shape: int, dtype: str = "float32") -> Node:
        with emit.translating(name, NOWHERE):
            node = emit.typed("input", TensorType(shape, dtype))
        emit.name(node, name)
        return node

    x, w, table, tokens = (
        given("x", 8, 768), given("w", 768, 768), given("table", 768, 768), given("tokens", 8, dtype="int64")
    )
    with emit.translating("f", NOWHERE):
        heads = emit("aten.view.default", emit("aten.mm.default", x, w), (8, 12, 64))
        emit.name(heads, "heads")
        rows = emit("aten.embedding.default", table, tokens)
        inside = emit("aten.lt.Scalar", tokens, 384)
        emit.name(inside, "inside")
        total = emit("aten.add.Tensor", rows, x)
    graph = emit.graph("graph", {"heads": heads, "rows": total, "inside": inside})
    (b, h, d), (_, k), (k2, hd), (v, k3) = roles_of(graph, "heads", "x", "w", "table")
    assert len({b, h, d, k, v}) == 5 and k == k2 == k3 and hd in (f"{h}·{d}", f"{d}·{h}")
    assert prod(spread(graph).small.values()) < 10_000


def test_numbers_beside_tokens_are_shares_of_the_table() -> None:
    emit = Emit()
    with emit.translating("table", NOWHERE):
        table = emit.typed("input", TensorType((49152, 4), "float32"))
    with emit.translating("tokens", NOWHERE):
        tokens = emit.typed("input", TensorType((8,), "int64"))
    with emit.translating("f", NOWHERE):
        low, high = emit("aten.lt.Scalar", tokens, 49152), emit("aten.ge.Scalar", tokens, 98304)
        moved = emit("aten.sub.Tensor", tokens, 49152)
        mine = emit("aten.masked_fill.Scalar", moved, emit("aten.bitwise_or.Tensor", low, high), 0)
        rows = emit("aten.embedding.default", table, mine)
    found = spread(emit.graph("graph", {"rows": rows}))
    (small,) = found.shrunk
    size = small["table.0"].shape[0]
    numbers = {node.operator: node.args[1] for node in small.nodes if node.operator.endswith(("Scalar", "sub.Tensor"))}
    assert size < 50
    assert (numbers["aten.lt.Scalar"], numbers["aten.ge.Scalar"], numbers["aten.sub.Tensor"]) == (size, 2 * size, size)




def test_a_sum_that_is_a_factor_is_matched_by_its_number() -> None:
    """(p + q)·a = b·c, where p + q and b are one number: both stay open."""
    roles = Roles()
    p, q, a, b, c = map(roles.fresh, (3, 5, 12, 8, 12))
    roles.same(Product((roles.total([p, q]), a)), Product((b, c)))
    assert roles.key(b) == roles.key(roles.total([p, q])) and roles.key(a) == roles.key(c)
    assert len(set(roles.free(Product((b, c))))) == 3


def test_ranks_tell_each_other_how_much_they_give() -> None:
    """Of an uneven all-gather no relation speaks: what one rank takes is what the other has."""
    sizes, made = (3, 5), []
    for rank, own in enumerate(sizes):
        emit = Emit()
        with emit.translating("x", NOWHERE):
            x = emit.typed("input", TensorType((own, 4), "float32"))
        with emit.translating("all", NOWHERE):
            rows = emit.typed(
                "collective.all_gather", TensorType((8, 4), "float32"), x, dim=0, sizes=sizes, group=(0, 1)
            )
        made.append(emit.graph(f"rank {rank}", {"rows": rows}))
    shaped = Shaped(made)
    shaped.spread()
    mine, yours = (shaped.shapes[graph["x.0"]][0] for graph in made)
    for graph in made:
        assert shaped.roles.key(shaped.shapes[graph["all.0"]][0]) == shaped.roles.key(shaped.roles.total([mine, yours]))
    small = members(shaped).shrunk
    assert small[0]["x.0"].shape[0] != small[1]["x.0"].shape[0]
    given = {f"r{k}.x.0": torch.randn(graph["x.0"].shape) for k, graph in enumerate(small)}
    execute(lockstep(small).graph, given)
