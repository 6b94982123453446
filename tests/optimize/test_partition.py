"""Stages: what is kept of forms, once for all names of axes, and how it lies in memory."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from programs_as_forms import PROGRAMS, inverse_root_mean_square, mixture
from test_native import computed, several
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.optimize.algebra import specified
from samesame.optimize.contraction import columns, is_operand_of_several, products
from samesame.optimize.forms import (
    Form,
    Part,
    Place,
    along,
    concat,
    fn,
    fold,
    load,
    lookup,
    made,
    minus,
    number,
    plus,
    position,
    power,
    substitute,
    times,
    walk,
)
from samesame.optimize.groups import elsewhere
from samesame.optimize.names import Digests, nameless, unshifted
from samesame.optimize.native import in_stages, work
from samesame.optimize.partition import Stage, is_pairwise, stages
from samesame.optimize.rows import side_by_side
from samesame.optimize.space import Space
from samesame.optimize.specification import Output, Specification, Tensor


class Attention(nn.Module):
    """Behind a norm, with a residual that is read twice: by a second norm and by the sum."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.second = nn.RMSNorm(24), nn.RMSNorm(24)
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        q, k, v = (part(y).view(1, -1, 3, 8).transpose(1, 2) for part in (self.q, self.k, self.v))
        h = x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return h + torch.relu(self.second(h))


def cut(module: nn.Module, *inputs: torch.Tensor) -> list[Stage]:
    specification = specified(module, inputs, capture(module, inputs))
    whole, kept = in_stages(specification, [root.form for root in specification.roots()])
    weights = [name for name, tensor in whole.tensors.items() if tensor.role == "weight"]
    return stages((*kept, *whole.outputs), whole.extents, weights)


def test_what_is_the_same_but_for_its_axes_is_kept_once() -> None:
    found = cut(Attention().eval(), torch.randn(1, 7, 24))
    products = [fold for stage in found for fold in stage.folds.values() if len(fold.axes) > 2]
    weights = [x.attributes[0] for product in products for x in walk(product) if x.operator == "load"]
    assert all(weights.count(f"{name}.weight") == 1 for name in "qkvo")
    assert len({nameless(stage.whole) for stage in found}) == len(found)


class Normed(nn.Module):
    """Attention whose queries and keys both have a norm, so that every axis of the scores is one of two factors'."""

    def __init__(self) -> None:
        super().__init__()
        self.of_q, self.of_k = nn.RMSNorm(4, eps=1e-6), nn.RMSNorm(4, eps=1e-6)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(self.of_q(q), self.of_k(k), v)


def test_the_norms_of_queries_and_keys_are_moved_behind_their_product() -> None:
    inputs = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 6)
    (scores,) = (stage for stage in cut(Normed().eval(), *inputs) if {"k", "p"} < set(stage.axes) and stage.folds)
    assert columns(scores) == ["k", "p"]
    torch.testing.assert_close(*computed(Normed().eval(), inputs), rtol=1e-4, atol=1e-5)


class Cached(nn.Module):
    """A decoding step: what is projected is laid behind the keys of the steps before."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.k = nn.RMSNorm(8, eps=1e-6), nn.Linear(8, 6, bias=False)

    def forward(self, x: torch.Tensor, past: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        keys = torch.cat([past, self.k(self.norm(x))], 1)
        return torch.softmax(x[..., :6] @ keys.transpose(1, 2), -1), keys


class Turned(nn.Module):
    """A norm, and behind it the rotation of halves: what reads the norm's result is a lower form than the norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(8, eps=1e-6)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        y = self.norm(x.float()).to(x.dtype)
        return y * cos + torch.cat([-y[..., 4:], y[..., :4]], -1) * sin


def test_what_is_read_by_name_is_computed_before_it_is_read() -> None:
    inputs = torch.randn(2, 5, 8), torch.randn(5, 8), torch.randn(5, 8)
    done = set[str]()
    for stage in cut(Turned().eval(), *inputs):
        assert {name for name in stage.reads if name not in ("x", "cos", "sin", "norm.weight")} <= done
        done.add(stage.target)
    torch.testing.assert_close(*computed(Turned().eval(), inputs), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("steps", [1, 2])
def test_what_a_part_of_a_concatenation_keeps_has_the_parts_axis(steps: int) -> None:
    inputs = torch.randn(2, steps, 8), torch.randn(2, 5, 6)
    for stage in cut(Cached().eval(), *inputs):
        assert all({*fold.axes} <= {*stage.axes} for fold in stage.folds.values())


class Cell(nn.Module):
    """Of its results one is a part of the other."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = nn.Linear(20, 48)

    def forward(self, x: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        i, f, g, o = self.gates(x).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


def test_a_result_that_is_part_of_another_is_computed_once() -> None:
    inputs = torch.randn(3, 20), torch.randn(3, 12)
    module = Cell()
    found = cut(module, *inputs)
    assert sum(len(stage.folds) for stage in found) == 4
    results, expected = several(module, inputs)
    torch.testing.assert_close(results, expected, rtol=1e-4, atol=1e-5)


def test_a_kept_tensor_lies_as_it_is_read() -> None:
    """The keys and values by their own lanes, scores by keys, over which they are summed."""
    found = cut(Attention().eval(), torch.randn(1, 7, 24))
    by_weight = {name: next(stage for stage in found if any(
        x.operator == "load" and x.attributes[0] == f"{name}.weight" for x in walk(stage.whole))) for name in "qkv"}
    for name, stage in by_weight.items():
        (weight,) = [x for x in walk(stage.whole) if x.operator == "load" and x.attributes[0] == f"{name}.weight"]
        assert stage.axes[-1] == weight.attributes[1].parts[-1].axis
    scores = next(stage for stage in found if {by_weight["q"].target, by_weight["k"].target} <= stage.reads)
    (keys,) = [x for x in walk(scores.whole) if x.operator == "load" and x.attributes[0] == by_weight["k"].target]
    rows = {place.axis for place in keys.attributes[1:]} & {*scores.axes}
    assert scores.axes[-1] in rows


def test_time_goes_where_most_is_computed() -> None:
    x, w = load("x", "m", "k"), load("w", "n", "k")
    one = Stage("y", ("m", "n"), load("f"), {"f": fold("sum", "k", times(x, w))})
    extents = {"m": 3, "n": 5, "k": 7}
    assert work([one], extents) == 3 * 5 * 7 + 3 * 5
    assert work([one, Stage("z", ("m",), fn("exp", load("v", "m")))], extents) == 3 * 5 * 7 + 3 * 5 + 3


@pytest.mark.long
def test_it_computes_what_torch_does() -> None:
    result, expected = computed(Attention().eval(), (torch.randn(1, 7, 24),))
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------------------------------------- names of axes


def with_names(form: Form, names: dict[str, str]) -> Form:
    """The form with other names for all axes, bound ones too, put together anew."""
    memo: dict[Form, Form] = {}
    for x in walk(form):
        inside = tuple(memo[y] for y in x.arguments)
        if x.operator == "load":
            name, *places = x.attributes
            memo[x] = load(name, *(place.put({a: along(names[a]) for a in place.axes}) for place in places))
        elif x.operator == "fold":
            memo[x] = fold(x.attributes[0], [names[a] for a in x.attributes[1]], inside[0])
        elif x.operator == "number":
            value, powers = x.attributes
            memo[x] = Form("number", (value, tuple(sorted((names[a], n) for a, n in powers))), ())
        else:
            memo[x] = made(x.operator, x.attributes, inside)
    return memo[form]


@given(st.sampled_from([output.form for program in PROGRAMS for output in program().outputs]), st.data())
def test_other_names_are_told_to_be_names_alone(form: Form, data: st.DataObject) -> None:
    axes = sorted({a for x in walk(form) for a in (*x.axes, *(x.attributes[1] if x.operator == "fold" else ()))})
    names = dict(zip(axes, data.draw(st.permutations([*axes, "u", "w"])), strict=False))
    other = with_names(form, names)
    (what, own), (again, others) = (Digests(lambda _: 1).renamed(x) for x in (form, other))
    assert nameless(form) == nameless(other)
    assert what == again
    back = {there: here for here, there in names.items()} | dict(zip(others, own, strict=True))
    assert with_names(other, back) is form


def normed(row: str, deep: str, weight: str = "g") -> Form:
    x = load("x", row, deep)
    return times(x, inverse_root_mean_square(x, deep), load(weight, deep))


def shifted(outer: str, inner: str) -> Form:
    """Exponents of a row without its maximum, summed; a name within a binder may be another outside of it."""
    return fold("sum", outer, fn("exp", minus(load("x", "i", outer), fold("max", inner, load("x", "i", inner)))))


def across(name: str, row: str, column: str) -> Form:
    return fold("sum", (row, column), times(load("w", row), load(name, row, column)))


@pytest.mark.parametrize(("one", "other", "same"), [
    (normed("i", "c"), normed("j", "d"), True),
    (normed("i", "c"), normed("c", "i"), True),
    (normed("i", "c"), normed("j", "c", "h"), False),
    (load("x", "i", "i"), load("x", "i", "j"), False),
    (minus(load("x", "i"), load("x", "j")), minus(load("x", "j"), load("x", "i")), True),
    (times(load("x", "i"), load("y", "i")), times(load("x", "i"), load("y", "j")), False),
    (fold("sum", "k", load("i", "k")), fold("sum", "i", load("i", "i")), True),
    (fold("sum", "k", load("i", "k")), fold("sum", "k", load("k", "k")), False),
    (fold("sum", "k", load("x", "k")), fold("max", "k", load("x", "k")), False),
    (shifted("k", "l"), shifted("k", "k"), True),
    (across("x", "k", "l"), across("x", "l", "k"), True),
    (fold("sum", "k", fold("max", "l", load("x", "k", "l"))),
     fold("sum", "k", fold("max", "l", load("x", "l", "k"))), False),
    (across("x", "k", "l"), fold("sum", "kl", times(load("w", "l"), load("x", "k", "l"))), False),
    (lookup("k", load("x", "k"), load("i", "k")), lookup("n", load("x", "n"), load("i", "m")), True),
    (lookup("k", load("x", "k", "n"), load("i", "m")), lookup("n", load("x", "k", "n"), load("i", "m")), False),
    (load("x", Place(along("i").parts, 1)), load("x", Place(along("i").parts, 2)), False),
    (fn("exp", load("x", "i")), fn("log", load("x", "i")), False),
])
def test_what_is_the_same_but_for_names(one: Form, other: Form, same: bool) -> None:
    (what, _), (again, _), (larger, _) = (
        Digests(lambda _, extent=extent: extent).renamed(x) for extent, x in ((1, one), (1, other), (2, other)))
    assert (what == again) is same
    assert what != larger


def test_who_reads_at_other_axes_shares_no_loops() -> None:
    made_here = Stage("h", ("i", "c"), fn("exp", load("x", "i", "c")))
    along_with = Stage("y", ("i",), plus(load("f")), {"f": fold("sum", "c", load("h", "i", "c"))})
    across = Stage("y", ("i",), plus(load("f")), {"f": fold("sum", "j", load("h", "j", "i"))})
    assert not elsewhere(along_with, [made_here]) and elsewhere(across, [made_here])


def test_a_distance_is_one_loop_nest_and_what_many_share_is_computed_once() -> None:
    """Σ (x − c)²·exp(v): what is summed is computed of tensors of both sides; the exponential all rows share."""
    some = mixture()
    shared_by_rows, apart = stages(some.outputs, some.extents, ["c", "v"])
    assert shared_by_rows.value is fn("exp", load("v", "n", "k")) and shared_by_rows.axes[-1] == "n"
    (distance,) = apart.folds.values()
    assert is_pairwise(distance) and columns(apart) == ["m", "n"]
    assert {x.attributes[0] for x in walk(distance) if x.operator == "load"} == {"x", "c", shared_by_rows.target}


class Scaled(nn.Module):
    """Bases of x against weights that have a scale for each row and group, as in a layer of splines."""

    def __init__(self) -> None:
        super().__init__()
        self.grid, self.weight, self.scale = (
            nn.Parameter(torch.rand(size) + 0.5) for size in ((6, 4), (5, 6, 4), (5, 6)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        bases = torch.exp(x[..., None] / self.grid)
        return bases.flatten(1) @ (self.weight * self.scale[..., None]).flatten(1).T


def test_what_a_row_is_divided_by_is_computed_once() -> None:
    module, x = Scaled().eval(), torch.randn(9, 6)
    divisor, bases, product = cut(module, x)
    assert [y.attributes[0] for y in walk(divisor.value) if y.operator == "load"] == ["grid"]
    assert product.reads == {bases.target, "weight", "scale"} and columns(product) == ["i", "p"]
    torch.testing.assert_close(*computed(module, (x,)), rtol=1e-5, atol=1e-5)


class FewBits(nn.Module):
    """A linear layer whose weights have 8 bits, with a zero and a scale for each group of columns of a row."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(0, 255, (40, 3, 8), dtype=torch.uint8))
        self.zero, self.scale = (nn.Parameter(torch.rand(40, 3) + k) for k in (100, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ ((self.weight.float() - self.zero[..., None]) * self.scale[..., None]).flatten(1).T


def test_a_weight_of_few_bits_is_made_as_it_is_read() -> None:
    module, x = FewBits().eval(), torch.randn(5, 24)
    (product,) = cut(module, x)
    rows, weights = columns(product)
    (operands,) = products(product, weights)
    assert {y.attributes[0] for y in operands.rights.values()} == {"weight", "zero", "scale"} == {
        y.attributes[0] for (p,) in [products(product, rows)] for y in walk(p.left) if y.operator == "load"}
    torch.testing.assert_close(*computed(module, (x,)), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize(("factors", "of_several"), [
    ([load("w", "n", "k"), load("s", "n")], True),
    ([minus(load("w", "n", "k"), load("z", "n")), load("s", "n")], True),
    ([load("w", "n", "k"), fn("exp", load("s", "n"))], False),                          # again and again for each row
    ([minus(load("w", "n", "k"), load("t", "k"))], True),                               # what all columns share
    ([load("t", "k")], False),                                                          # nothing with columns
    ([load("w", "n", "k"), load("v", "m", "n")], False),                                # no axis for rows alone
    ([fold("max", "j", load("w", "n", "k", "j")), load("s", "n")], False),              # computed
])
def test_an_operand_of_several_tensors(factors: list[Form], of_several: bool) -> None:
    assert is_operand_of_several(factors, load("x", "m", "k"), "n") is of_several


@pytest.mark.parametrize(("form", "pairwise"), [
    (fold("sum", "k", fn("tanh", plus(load("x", "m", "k"), load("y", "n", "k")))), True),
    (fold("sum", "k", times(load("v", "k"), fn("tanh", plus(load("x", "m", "k"), load("y", "n", "k"))))), True),
    (fold("sum", "k", times(load("x", "m", "k"), load("y", "n", "k"))), False),                # a product
    (fold("sum", "k", times(fn("exp", load("x", "m", "k")), load("y", "n", "k"))), False),     # of a computed one
    (fold("sum", "k", fn("exp", minus(load("x", "m", "k"), load("c", "k")))), False),          # rows of one tensor
    (fold("sum", "k", fn("exp", minus(load("x", "m", "n", "k"), load("c", "m")))), False),     # and of one that has all
    (fold("max", "k", fn("tanh", plus(load("x", "m", "k"), load("y", "n", "k")))), False),
])
def test_what_is_pairwise(form: Form, pairwise: bool) -> None:
    assert is_pairwise(form) is pairwise


def test_of_what_is_joined_and_meets_itself_there_is_one_tensor() -> None:
    """Distances within two sets of points: their union is kept, and read as it is."""
    union = concat("m", ["i", "j"], [load("x", "i", "k"), load("y", "j", "k")])
    other = concat("n", ["i", "j"], [load("x", "i", "k"), load("y", "j", "k")])
    apart = fold("sum", "k", fn("abs", minus(union, other)))
    kept, distances = stages((Output("z", apart, (("m",), ("n",)), "float32"),), dict(i=3, j=4, m=7, n=7, k=5))
    assert is_pairwise(apart) and kept.value.operator == "concat"
    (distance,) = distances.folds.values()
    assert {x.attributes[0] for x in walk(distance) if x.operator == "load"} == {kept.target}


def test_parts_of_a_concatenation_lie_as_the_whole_does() -> None:
    """And each goes through memory by itself, where a nest over what they share would go across it."""
    parts = [fold("max", "k", load(name, "b", axis, "n", "k")) for name, axis in (("x", "p"), ("y", "q"))]
    whole = Output("z", fn("exp", concat("c", ["p", "q"], parts)), (("b",), ("c",), ("n",)), "float32")
    sizes = dict(b=2, p=3, q=4, c=7, n=40, k=5)
    tensors = {name: Tensor(name, (2, sizes[axis], 40, 5), "float32", "input")
               for name, axis in (("x", "p"), ("y", "q"))}
    one, other, joined = cut = stages((whole,), sizes)
    assert (one.axes, other.axes, joined.axes) == (("b", "p", "n"), ("b", "q", "n"), ("b", "c", "n"))
    space = Space(Specification("joined", tensors, sizes, (whole,)), cut)
    assert side_by_side(space, cut) and not side_by_side(space, [joined])


class Streamed(nn.Module):
    """Densities that move to their neighbours, at a speed that all of a cell decide."""

    def forward(self, f: torch.Tensor, solid: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rho = f.sum(0)
        moved = torch.where(solid, f.flip(0), f - (f - rho / 3).exp() / rho)
        return torch.stack([moved[0], moved[1].roll((1, -2), (0, 1)), moved[2].roll(2, 1)]), rho.sqrt()


def test_what_is_read_at_shifted_places_is_kept_once() -> None:
    inputs = torch.rand(3, 11, 13) + 1, torch.rand(11, 13) > 0.7
    found = cut(Streamed(), *inputs)
    assert sum(len(stage.folds) for stage in found) == 1 and len(found) == 3
    for result, expected in zip(*several(Streamed(), inputs), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


class Differences(nn.Module):
    """Sums of which a larger part is kept first, and two that begin before it and end behind it."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        sums = x.square().sum(-1, keepdim=True)
        return tuple(x[part] / sums[part] for part in (slice(2, -2), slice(3, -3), slice(0, -4), slice(4, None)))


def test_a_part_is_read_of_what_holds_all_of_it() -> None:
    inputs = (torch.randn(40, 9),)
    assert sum(len(stage.folds) for stage in cut(Differences(), *inputs)) == 3
    for result, expected in zip(*several(Differences(), inputs), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


class PartOfARow(nn.Module):
    """The same of rows and of parts of these, over what is bound by the same name."""

    def __init__(self) -> None:
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(40, 3)), nn.Parameter(torch.randn(24, 3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x[:, :24]
        return ((x - x.amax(-1, keepdim=True)).relu() @ self.w,
                (y - y.amax(-1, keepdim=True)).relu() @ self.v)


def test_what_is_folded_over_fewer_is_no_part_of_what_is_folded_over_all() -> None:
    inputs = (torch.randn(16, 40),)
    for result, expected in zip(*several(PartOfARow(), inputs), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


AXES = ("a", "b", "c")
PLACES = st.one_of(
    st.builds(lambda axis, offset: Place((Part(axis),), offset), st.sampled_from(AXES), st.integers(0, 5)),
    st.builds(lambda axis, offset: Place((Part(axis, 2),), offset), st.sampled_from(AXES), st.integers(0, 5)),
    st.builds(lambda offset: Place((Part("a", 1, ("b",)), Part("b")), offset), st.integers(0, 5)),
    st.builds(lambda offset: Place((), offset), st.integers(0, 5)))


@given(st.lists(st.tuples(PLACES, PLACES), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_shifted_back_a_form_is_what_it_was(places: list[tuple[Place, Place]], counted: bool, positions: bool) -> None:
    form = plus(*(load(f"x{k}", *pair) for k, pair in enumerate(places)), *([number(1, (("a", 1),))] * counted),
                *([position(Place((Part("b"),), 1))] * positions))
    base, begins = unshifted(form)
    assert substitute(base, {a: Place((Part(a),), offset) for a, offset in begins.items()}) is form
    assert not (counted and begins.get("a"))
    for axis in begins:                                    # it begins at the beginning, and is nowhere else
        offsets = [place.offset for pair in places for place in pair if axis in place.axes]
        assert begins[axis] == min([*offsets, *([1] if positions and axis == "b" else [])])


def test_an_axis_is_moved_and_none_that_is_bound_by_its_name() -> None:
    after = Place((Part("l"),), 1)
    form = minus(load("x", after), fold("max", "l", load("y", after)))
    assert unshifted(form) == (minus(load("x", "l"), fold("max", "l", load("y", after))), {"l": 1})


def test_numbers_and_what_few_elements_share_are_computed_where_they_are_used() -> None:
    x, scale = load("x", "m", "k"), fn("exp", load("s", "k"))
    for rows, kept in ((7, 1), (8, 2)):
        y = Output("y", times(x, scale), (("m",), ("k",)), "float32")
        assert len(stages((y,), {"m": rows, "k": 5})) == kept
    root = times(power(number(1, (("k", 1),)), Fraction(-1, 2)), x)
    assert len(stages((Output("y", root, (("m",), ("k",)), "float32"),), {"m": 99, "k": 5})) == 1


def discounted(times: torch.Tensor, rates: torch.Tensor, flows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Prices and what they change by: sums over the same discounts."""
    discount = torch.exp(-rates[:, None, None] * times)
    return (flows * discount).sum(-1), (flows * discount * times).sum(-1)


@pytest.mark.parametrize(("many", "kept"), [(7, 1), (1 << 16, 0)])
def test_functions_that_sums_share_are_kept_where_they_stay_near(many: int, kept: int) -> None:
    inputs = torch.rand(3, 9), torch.rand(many), torch.rand(3, 9)
    specification = specified(discounted, inputs, capture(discounted, inputs))
    found = stages(specification.outputs, specification.extents)
    takes = [stage for stage in found if any(x.operator == "fn" for x in walk(stage.whole))]
    assert [len(stage.folds) for stage in takes] == ([0] if kept else [1, 1])
