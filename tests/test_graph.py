"""The text and the JSON form of a graph hold everything that they say they hold."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.graph import Dtype, Graph, Node, Origin, TensorType
from samesame.graph.interface import Interface, python_values
from samesame.graph.text import GraphError, from_json, parse, text_form, to_json

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,4}(\.[a-z0-9]{1,3})?", fullmatch=True)
TYPES = st.builds(
    TensorType,
    st.lists(st.integers(0, 2**40), max_size=3).map(tuple),
    st.sampled_from(["float32", "bool", "int64", "complex64", "float8_e4m3fn"]),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(exclude_categories=("Cs",))),
    st.builds(Dtype, st.sampled_from(["float32", "bfloat16", "int64"])),
)
TEXTS = st.from_regex(r"[a-z][a-z ]{0,6}[a-z]", fullmatch=True)


@st.composite
def graphs(draw):
    """Graphs of a few nodes whose arguments nest anything that arguments may hold."""
    nodes = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=5, unique=True)):
        leaves = SCALARS if not nodes else st.one_of(SCALARS, st.sampled_from(nodes))
        arguments = st.recursive(leaves, lambda part: st.lists(part, max_size=3).map(tuple), max_leaves=5)
        operator = draw(st.sampled_from(["input", "getitem", "aten.add.Tensor", "my_ops.turn.default"]))
        located = draw(st.booleans())
        origin = Origin(
            file=draw(TEXTS) + ".py" if located else "",
            line=draw(st.integers(1, 999)) if located else 0,
            **{"parameter" if operator == "input" else "module": draw(st.sampled_from(["", "layers.0.mlp"]))},
        )
        nodes.append(
            Node(
                name,
                operator,
                draw(st.lists(arguments, max_size=3).map(tuple)),
                draw(st.dictionaries(st.sampled_from(["dim", "dtype", "p"]), arguments, max_size=2)),
                draw(st.one_of(TYPES, st.lists(TYPES, max_size=3).map(tuple))),
                origin,
            )
        )
    roots = draw(st.lists(st.tuples(TEXTS, st.sampled_from(nodes)), min_size=1, max_size=2))
    return Graph(draw(TEXTS), tuple(nodes), tuple(roots))


def content(graph):
    """All of a graph, in a form that compares nodes by name and every float by its bits."""

    def plain(value):
        if isinstance(value, Node):
            return "node", value.name
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        if isinstance(value, complex):
            return "complex", plain(value.real), plain(value.imag)
        if isinstance(value, float):
            return "float", "nan" if math.isnan(value) else value.hex()
        return type(value).__name__, value

    nodes = [
        (n.name, n.operator, plain(n.args), {k: plain(v) for k, v in n.kwargs.items()}, n.type, n.origin)
        for n in graph.nodes
    ]
    return graph.name, nodes, [(name, root.name) for name, root in graph.roots]


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_text_can_be_read_back(graph):
    assert content(parse(text_form(graph))) == content(graph)


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_json_can_be_read_back(graph):
    written = json.dumps(to_json(graph), allow_nan=False)
    assert content(from_json(json.loads(written))) == content(graph)


def test_json_keeps_the_function_and_the_text_of_a_line():
    origin = Origin("model.py", 12, "forward", "y = x.sum(-1)", "layers.0", "")
    graph = Graph("left", (Node("x", "input", origin=origin),), ())
    assert from_json(to_json(graph)).nodes[0].origin == origin


def test_text_reads_as_in_the_books():
    x = Node("x", "input", type=TensorType((2, 3), "float32"))
    total = Node(
        "sum_1",
        "aten.sum.dim_IntList",
        (x, (-1,)),
        {"dtype": Dtype("float64")},
        TensorType((2,), "float64"),
        Origin("model.py", 12, module="layers.0"),
    )
    assert text_form(Graph("left", (x, total), (("total", total),))) == (
        "graph left\n"
        "%x = input()  : float32[2, 3]\n"
        "%sum_1 = aten.sum.dim_IntList(%x, (-1,), dtype=float64)  : float64[2]   # model.py:12 layers.0\n"
        "return total = %sum_1\n"
    )


@pytest.mark.parametrize(
    "line, complaint",
    [
        ("%y = aten.neg.default(%z)  : float32[2]", "line 3: z is used before it is defined"),
        ("%x = input()  : float32[2]", "line 3: x is defined twice"),
        ("%y = aten.neg.default(%x  : float32[2]", "line 3"),
        ("%y = aten.neg.default(%x)  : [2]", "line 3: '\\[' is no dtype"),
        ("%y = aten.neg.default(%x)", "line 3: cannot read ''"),
        ("%y = aten.neg.default(%x)  : float32[2] and more", "line 3: 'and more' stands after the type"),
        ("y is x", "line 3: 'y is x' is neither"),
        ("return out = %y", "line 3: y is used before it is defined"),
    ],
)
def test_a_line_that_does_not_fit_is_named(line, complaint):
    with pytest.raises(GraphError, match=complaint):
        parse(f"graph left\n%x = input()  : float32[2]\n{line}\n")


@pytest.mark.parametrize(
    "form, complaint",
    [
        ([], "no saved graph"),
        ({"format": "something else"}, "no saved graph"),
        ({"format": "samesame graph", "version": 99}, "version 99"),
        ({"format": "samesame graph", "version": 1}, "damaged"),
    ],
)
def test_json_that_is_no_graph_is_refused(form, complaint):
    with pytest.raises(GraphError, match=complaint):
        from_json(form)


@pytest.mark.parametrize("values, changed, on_one_side", [
    ("values", "changed", 0), ("taken", "changed_in_arguments", 1),
])
def test_what_one_side_only_leaves_in_an_argument_is_a_difference_and_in_an_attribute_is_none(
    values, changed, on_one_side
):
    def left_with(*calls):
        names = frozenset(name for held in calls for name in held)
        return Interface((), (), **{values: calls, changed: names})

    one, other, none = left_with({"cache.seen": 1}), left_with({"cache.seen": 2}), left_with({})
    assert not [*python_values(one, one)] and not [*python_values(none, none)]
    assert len([*python_values(one, other)]) == 1
    assert len([*python_values(one, none)]) == len([*python_values(none, one)]) == on_one_side
