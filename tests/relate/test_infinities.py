"""Which tensors may be infinite: no run finds an infinity where the analysis says that there is none."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pairs.corpus import PAIRS
from samesame.capture import capture
from samesame.evidence import Refused
from samesame.formula.spans import ABOVE, ALL, BELOW, FINITE, INFINITE
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import execute, resolve
from samesame.relate.infinities import lying, spans_of

SHAPE = (2, 3)
NUMBERS = torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0], dtype=torch.float64)
SMALL, LARGE = 1e-3, 8.0                     # beyond these, rounding is no longer nothing
UNARY = [f"aten.{name}.default" for name in (
    *("neg", "exp", "log", "log1p", "expm1", "abs", "relu", "sigmoid", "tanh", "square", "sqrt", "reciprocal", "rsqrt"),
    *("silu", "gelu", "softplus", "log_sigmoid", "elu", "mish", "floor", "sign", "sin", "erf", "cos", "isinf", "logit"),
)]
BINARY = ["aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor", "aten.maximum.default",
          "aten.minimum.default", "aten.logaddexp.default", "aten.xlogy.Tensor", "aten.lt.Tensor"]
ALONG = [("aten.amax.default", ((-1,), True)), ("aten.amin.default", ((-1,), True)),
         ("aten.sum.dim_IntList", ((-1,), True)), ("aten.mean.dim", ((-1,), True)), ("aten.softmax.int", (-1,)),
         ("aten.log_softmax.int", (-1,)), ("aten.logsumexp.default", ((-1,), True)), ("aten.cumsum.default", (-1,)),
         ("aten.prod.dim_int", (-1, True)), ("aten.cumprod.default", (-1,)), ("aten.flip.default", ((-1,),)),
         ("aten.logcumsumexp.default", (-1,)), ("aten.clamp.default", (-1.0, 1.0)), ("aten.clamp.default", (None, 2.0)),
         ("aten.mul.Scalar", (-0.5,)), ("aten.add.Scalar", (1.0,)), ("aten.rsub.Scalar", (1.0,)),
         ("aten.nan_to_num.default", (0.0, 1.0, -1.0)), ("aten.pow.Tensor_Scalar", (3,)), ("aten.any.dim", (-1, True))]
DIVIDING = {"aten.div.Tensor": 1, "aten.reciprocal.default": 0, "aten.rsqrt.default": 0}       # by which argument


def numbers(name):
    return Node(name, "input", type=TensorType(SHAPE, "float64"))


@st.composite
def calls(draw):
    """An operator, how many tensors it reads, and what else it is given."""
    kind = draw(st.sampled_from(["one", "two", "along", "hidden", "chosen"]))
    if kind == "hidden":
        return "aten.masked_fill.Scalar", 2, (draw(st.sampled_from([-math.inf, -math.inf, math.inf])),)
    if kind == "chosen":
        return "aten.where.self", 3, ()
    if kind == "along":
        operator, rest = draw(st.sampled_from(ALONG))
        return operator, 1, rest
    return draw(st.sampled_from(UNARY if kind == "one" else BINARY)), 1 if kind == "one" else 2, ()


@settings(max_examples=200, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=9), st.integers(0, 1 << 30))
def test_of_any_program_no_run_finds_an_infinity_that_is_not_expected(program, seed):
    dice = torch.Generator().manual_seed(seed)

    def one_of(nodes):
        return nodes[int(torch.randint(len(nodes), (), generator=dice))]

    nodes = [numbers("x"), numbers("y"), Node("m", "input", type=TensorType(SHAPE, "bool"))]
    values = [NUMBERS[torch.randint(len(NUMBERS), SHAPE, generator=dice)] for _ in nodes]
    values[2] = torch.rand(SHAPE, generator=dice) < 0.5
    held = dict(zip(nodes, values, strict=True))
    for operator, read, rest in program:
        truths = [node for node in held if node.type.dtype == "bool"]
        reals = [node for node in held if node.type.dtype != "bool"]
        masked = {"aten.masked_fill.Scalar": 1, "aten.where.self": 0}.get(operator)
        args = [one_of(truths if place == masked else reals) for place in range(read)]
        value = made(operator, [held[node] for node in args], rest)
        if value is not None:
            node = Node(f"t{len(held)}", operator, (*args, *rest), type=TensorType(tuple(value.shape), dtype_of(value)))
            held[node] = value
    graph = Graph("program", tuple(held), (("out", [*held][-1]),), {})
    found = spans_of(graph, {})
    for node, value in held.items():
        assert lying(value) & INFINITE <= found[node], (node.operator, node.args)


def made(operator, args, rest):
    """What an operator makes; None where that is a division by 0, or floats are in the way of what reals are."""
    divisor = DIVIDING.get(operator)
    if divisor is not None and bool((args[divisor] == 0).any()):
        return None
    if operator == "aten.logit.default" and bool(((args[0] == 1) | (args[0] == 0)).any()):
        return None
    value = resolve(operator)(*args, *rest)
    numbers = value[value.isfinite() & (value != 0)].double().abs()
    return value if bool(((numbers > SMALL) & (numbers < LARGE)).all()) else None


def dtype_of(value):
    return str(value.dtype).removeprefix("torch.")


# ----------------------------------------------------------------------------------------------- programs of the corpus


def runs(graph):
    """The infinities that are seen in runs in which masks hide what they like, or all, and numbers are of any sign."""
    found = {}

    def look(node, value, _):
        if isinstance(value, torch.Tensor):
            found[node.name] = found.get(node.name, frozenset()) | lying(value) & INFINITE

    for share, signs in product((0.5, 1.0), (False, True)):
        hide = partial(hidden, share, torch.Generator().manual_seed(0))
        given = {node.name: hide(node, turned(graph.tensors[node.name]) if signs else graph.tensors[node.name])
                 for node in graph.nodes if node.operator in ("input", "parameter")}
        with suppress(Refused):                                # what a run does not come to, it does not show
            execute(graph, given, keep=False, seen=look, changed=hide)
    return found


def turned(value):
    signs = 1 - 2 * torch.randint(2, value.shape, generator=torch.Generator().manual_seed(1))
    return value * signs if value.is_floating_point() else value


def hidden(share, dice, node, value):
    """What truth values of numbers are in a run that makes so many of them true."""
    is_mask = isinstance(value, torch.Tensor) and value.dtype == torch.bool and not any(
        isinstance(part.type, TensorType) and part.type.dtype == "bool" for part in node.inputs)
    return torch.rand(value.shape, generator=dice) < share if is_mask else value


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_of_the_corpus_no_run_finds_one_that_is_not_expected(pair):
    for side in (pair.left, pair.right):
        graph = capture(side, pair.inputs())
        expected = spans_of(graph, graph.tensors)
        seen = runs(graph)
        assert all(seen.get(node.name, frozenset()) <= spans for node, spans in expected.items())


# ------------------------------------------------------------------------------------------------------- one by one

X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
MASK = torch.zeros(2, 3, dtype=torch.bool)
HIDDEN, REACHED = frozenset([BELOW]), frozenset([ABOVE])
NONE, BOTH = frozenset(), INFINITE
TABLE = torch.tensor([0.0, 1.0, -math.inf])


def of_hidden(function):
    """A program of what a mask hides of x, and a number."""
    return lambda x, m, p: function(x.masked_fill(m, -math.inf), p)


class Looking(torch.nn.Module):
    """Looks up a row of a table, of which the last is −∞."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", TABLE)

    def forward(self, x, mask, p):
        return x + self.table[mask.long()]


def of_arrivals(at):
    """Numbers less the largest of those that arrive at a place; where none does it is −∞."""
    def program(x, m, p):
        there = m[0].long()
        largest = x.new_full((3,), -math.inf).scatter_reduce(0, there, x[0], "amax")
        return x[0] - largest.gather(0, at(there, m))

    return program


def of_what_arrives(reduce, other):
    """The greatest or least of what arrives at a place, and zeros elsewhere; or where something arrives at others."""
    def program(x, m, p):
        there = m[0].long()
        found = x.new_full((3,), -math.inf).scatter_reduce(0, there, x[0], reduce)
        some = torch.stack([(there + other == k).any() for k in range(3)])
        return torch.where(some, found, 0.0) if other else x.new_zeros(3).scatter_reduce(
            0, there, x[0], reduce, include_self=False)

    return program


CASES = {
    "the greatest of what arrives": (of_what_arrives("amax", 0), NONE),
    "the least of what arrives": (of_what_arrives("amin", 0), NONE),
    "the greatest where something else arrives": (of_what_arrives("amax", 1), HIDDEN),
    "less the largest at its own place": (of_arrivals(lambda there, m: there), NONE),
    "less the largest at another place": (of_arrivals(lambda there, m: m[1].long()), REACHED),
    "a mask": (of_hidden(lambda h, p: h), HIDDEN),
    "a large number": (lambda x, m, p: torch.where(x > 50, -math.inf, x), HIDDEN),
    "a table that is looked up": (Looking(), HIDDEN),
    "a constant that is divided by 0": (lambda x, m, p: torch.where(m, -1 / torch.zeros(()), x), HIDDEN),
    "the logarithm of a mask": (lambda x, m, p: x + m.float().log(), HIDDEN),
    "the logarithm of what is cut off": (lambda x, m, p: torch.relu(50 - x).log(), HIDDEN),
    "an unknown sign": (of_hidden(lambda h, p: h * (p * p - 2)), BOTH),
    "a known sign": (of_hidden(lambda h, p: h * (p * p + 2)), HIDDEN),
    "a sign that turns": (of_hidden(lambda h, p: h * -p.exp()), REACHED),
    "a softmax": (of_hidden(lambda h, p: torch.softmax(h, -1)), NONE),
    "its logarithm": (of_hidden(lambda h, p: torch.log_softmax(h, -1)), HIDDEN),
    "less its maximum": (of_hidden(lambda h, p: h - h.amax(-1, keepdim=True)), HIDDEN),
    "less a running maximum": (of_hidden(lambda h, p: h - torch.maximum(p, h.max(-1, keepdim=True).values)), HIDDEN),
    "less another row's maximum": (of_hidden(lambda h, p: h[:, :2] - h.amax(-1)), BOTH),
    "less what it adds up to": (of_hidden(lambda h, p: h - h.logsumexp(-1, keepdim=True)), HIDDEN),
    "weights by hand": (of_hidden(lambda h, p: (h - h.amax(-1, keepdim=True)).exp().sum(-1)), NONE),
    "a maximum with numbers": (of_hidden(torch.maximum), NONE),
    "a maximum over what is hidden": (of_hidden(lambda h, p: h.amax(-1)), HIDDEN),
    "sorted": (of_hidden(lambda h, p: h.sort(-1).values), HIDDEN),
    "the logarithm of one and a square": (lambda x, m, p: torch.log(1 + x * x), NONE),
    "what a sigmoid leaves": (lambda x, m, p: torch.log(1 - torch.sigmoid(x)), NONE),
    "pooled": (lambda x, m, p: torch.nn.functional.max_pool1d(x, 2, 1, padding=1), NONE),
    "a running maximum": (lambda x, m, p: x.cummax(-1).values, NONE),
    "a number divided": (lambda x, m, p: x / p, NONE),
    "of no formula, of numbers": (lambda x, m, p: torch.linalg.svdvals(x), NONE),
    "of no formula, of infinities": (of_hidden(lambda h, p: torch.linalg.svdvals(h)), BOTH),
}


PLACES = torch.tensor([[0, 2], [1, 0]])
WRITING = {
    "scatter": lambda x, m: x.scatter(1, PLACES, -math.inf),
    "index_fill": lambda x, m: x.index_fill(1, PLACES[0], -math.inf),
    "pad": lambda x, m: torch.nn.functional.pad(x, (1, 1), value=-math.inf),
    "full": lambda x, m: torch.full_like(x, -math.inf),
    "threshold": lambda x, m: torch.nn.functional.threshold(x, 0.0, -math.inf),
    "index_put": lambda x, m: x.index_put((PLACES[1],), torch.tensor(-math.inf)),
    "masked_scatter": lambda x, m: x.masked_scatter(m, torch.full((6,), -math.inf)),
    "fill_diagonal": lambda x, m: x.clone().fill_diagonal_(-math.inf),
    "nan_to_num": lambda x, m: x.nan_to_num(-math.inf),
    "clamp": lambda x, m: x.clamp(max=-math.inf),
    "full of reals": lambda x, m: x + x.new_full((3,), -math.inf),
    "one by one": lambda x, m: torch.stack([x[0], x[1] - torch.tensor(math.inf)]),
    "triangle": lambda x, m: x + torch.full((2, 3), -math.inf).triu(1),
}


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_an_infinity_makes_one(name):
    graph = capture(WRITING[name], (X, MASK))
    assert spans_of(graph, graph.tensors)[graph.roots[0][1]] >= HIDDEN


@pytest.mark.parametrize("name", CASES)
def test_which_infinities_there_may_be(name):
    program, expected = CASES[name]
    graph = capture(program, (X, MASK, torch.tensor(1.5)))
    run = execute(graph, graph.tensors)
    assert spans_of(graph, run)[graph.roots[0][1]] & INFINITE == expected


def test_what_is_given_is_finite_unless_the_example_says_otherwise():
    graph = capture(lambda x: x + 1, (X,))
    (x,) = graph.sources("input")
    assert spans_of(graph, graph.tensors)[x] == FINITE
    assert spans_of(graph, {"x": X.masked_fill(~MASK, math.inf)})[graph.roots[0][1]] == FINITE | REACHED


def test_what_is_carried_from_round_to_round_is_infinite_where_a_round_makes_it_so():
    graph = capture(lambda a, b, m: (a.masked_fill(m, -math.inf), a + 1, b + 1), (X, X, MASK))
    a, b, _ = graph.sources("input")
    one, two, three = (name for name, _ in graph.roots)
    found = spans_of(graph, graph.tensors, {"a": [one], "b": [two]})
    assert found[a] == found[b] == FINITE | HIDDEN
    found = spans_of(graph, graph.tensors, {"a": [three], "b": [two]})
    assert found[a] == found[b] == FINITE


def test_elements_lie_in_the_spans_between_their_ends():
    points = torch.tensor([-math.inf, -7, -1, -0.5, 0, 0.5, 1, 7, math.inf])
    assert [lying(point.reshape(1)) for point in points] == [{span} for span in sorted(ALL)]
    assert lying(torch.tensor([math.nan, 2.0])) == {7} and lying(torch.tensor([True, False])) == {4, 6}
