"""What is taken at a number that a tensor holds is an index: the graph computes what the program does at other numbers,
writes through what was taken included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samesame.capture import capture
from samesame.evidence import Refused
from samesame.operators.execute import execute

X = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(0))


def written_through(x, t, s):
    y = x.clone()
    row = y[t]
    row.mul_(2)
    y[t, s] += 1
    row[s] -= y[s][0]
    return y, row + y[t]


def put(x, t, s):
    y = x * 1
    y[:, s] = y[t, 0]
    y[t] = 0
    return y


def two_of_one_row(x, t, s):
    """Rows that are one in the example and may be two."""
    y = x.clone()
    one, other = y[t], y[s]
    one.add_(1)
    return one * 1, other * 2, y


PROGRAMS: dict[str, Callable] = {
    "a row": lambda x, t, s: x[t],
    "a column": lambda x, t, s: x[:, s] * 2,
    "an element": lambda x, t, s: x[t, s, (t + s) % 3],
    "the last dimension": lambda x, t, s: x[..., t],
    "behind a new one": lambda x, t, s: x[None, t] + x[t, None],
    "with a slice": lambda x, t, s: x[t, 1:3] + x[1:3, s].sum(),
    "with other indices": lambda x, t, s: x[t, torch.tensor([0, 2]), torch.tensor([1, 1])],
    "of a computed number": lambda x, t, s: x[(t * s) % 4],
    "of the largest": lambda x, t, s: x[x[:, 0, 0].argmax()],
    "written through": written_through,
    "put": put,
    "two of one row": two_of_one_row,
}


@pytest.mark.parametrize("name", PROGRAMS)
@given(at=st.tuples(st.integers(-3, 2), st.integers(-3, 2)), shown=st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_at_other_numbers_the_graph_computes_what_the_program_does(name, at, shown):
    program, given = PROGRAMS[name], tuple(map(torch.tensor, shown))
    graph = capture(program, (X, *given))
    others = (X.flip(0), *map(torch.tensor, at))
    inputs = dict(zip((node.name for node in graph.sources("input")), others, strict=True))
    found = execute(graph, inputs, precision="own")
    expected = program(*others)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for (_, node), tensor in zip(graph.roots, expected, strict=True):
        torch.testing.assert_close(found[node.name], tensor)


REFUSED: dict[str, Callable] = {
    "the end of a slice": lambda x, t: x[:t],
    "the begin of a slice": lambda x, t: x[t:].sum(),
    "an element of a list": lambda x, t: [x, x + 1][t],
    "taken out": lambda x, t: x[t.item()],
    "a truth": lambda x, t: x[t > 1],
    "where gradients are computed": lambda x, t: torch.autograd.grad(x.requires_grad_()[t].square().sum(), x)[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_number_that_is_let_out_otherwise_is_refused(name):
    with pytest.raises(Refused, match="depends on data"):
        capture(REFUSED[name], (X.clone(), torch.tensor(2)))


def test_a_constant_is_taken_as_it_is():
    at = torch.tensor(2)
    assert "aten.index.Tensor" not in {node.operator for node in capture(lambda x: x[at], (X,)).nodes}
