"""A recorded graph computes what the program computes, on other inputs too, however the program writes into memory."""

import cProfile
import ctypes
import inspect
import subprocess
import sys
from collections import deque

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.operators.execute import execute

HERE = "test_record.py"


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def run(graph, *inputs, precision="own", **values):
    """The graph's roots on these inputs, in the order of its input nodes, with its own parameters."""
    names = [node.name for node in graph.sources("input")]
    found = execute(graph, graph.tensors | dict(zip(names, inputs, strict=True)) | values, precision=precision)
    return [found[root.name] for _, root in graph.roots]


def operators(graph):
    return [node.operator for node in graph.nodes if not node.is_source]


# ------------------------------------------------------------------------------------------------ views and writes


def write_row(x):
    y = x.clone()
    y[1] = 7.0
    return y


def write_through_transposed_row(x):
    y = x * 2
    y.t()[2].mul_(3)
    return y, y[0]


def stale_views(x):
    y = x + 1
    row, column, flat = y[1], y[:, 2], y.view(-1)
    row += 10
    column *= 2
    flat[0] = -1
    return y, row, column, flat


def write_a_view_of_a_view(x):
    y = x.clone()
    y.unsqueeze(0).transpose(1, 2)[0, 1:, ::2].sub_(1).exp_()
    return y.sum(0), y


def write_pieces(x):
    y = x.clone()
    left, right = y.split([1, 3], dim=1)
    left.zero_()
    right.copy_(left.expand(3, 3) + right)
    first, *_ = y.unbind(0)
    first.fill_(0.5)
    y.chunk(2, dim=1)[1].neg_()
    return y


def write_pieces_that_gradients_may_not_know(x):
    y = x.clone()
    first, second = torch.unsafe_chunk(y, 2, 1)
    first.add_(second).sigmoid_()
    torch.unsafe_split_with_sizes(y, [1, 2], 0)[1].neg_()
    return y


def write_diagonal(x):
    y = x.clone()
    torch.diagonal(y, 1).copy_(torch.arange(3))
    return y.permute(1, 0)


def fill_diagonal(x):
    y = x.clone()
    return y.fill_diagonal_(0.25), x[1:].clone().fill_diagonal_(2.0)


def write_then_change_view(x):
    y = x.clone()
    z = y.detach()
    z.t_().unsqueeze_(0)
    z[0, 0] = 5.0
    return y, z.squeeze_(0)


def fill_a_buffer(x):
    out = torch.empty(4, 3)
    out[:2] = x.t()[:2]
    out[2:].copy_(x.t()[2:] * 2)
    return out


def accumulate(x):
    total = torch.zeros_like(x[0])
    for row in x:
        total += row
    return total


def write_where_masked(x):
    y = x.clone()
    y[y < 0] = 0.0
    y.masked_fill_(y > 1, 1.0)
    y.index_put_((torch.tensor([0, 0]), torch.tensor([1, 1])), torch.tensor(2.0), accumulate=True)
    return y


def into_out(x):
    out = torch.ones(3, 3)
    torch.mm(x, x.t(), out=out)
    torch.add(out, 1, out=out)
    return out


def mixed_dtypes(x):
    y = torch.zeros(3, 4, dtype=torch.float64)
    y += x
    z = torch.zeros(3, 4, dtype=torch.int64)
    z.copy_(x * 10)
    z[0] = x[1]
    return y, z


def data_of(x):
    y = x * 1.5
    y.data[0] = 1.0
    return y


def complex_numbers(x):
    z = torch.view_as_complex(x.view(3, 2, 2).contiguous())
    turned = z * torch.polar(torch.ones(2), torch.tensor([0.5, 1.0])).conj()
    torch.view_as_real(turned)[..., 1] += 1
    return torch.view_as_real(turned).flatten(1), turned.abs(), turned.imag


def overlapping_heads(x):
    return x.unfold(1, 2, 1).sum(-1), x.expand(2, 3, 4).reshape(6, 4), x[None].repeat(2, 1, 1)


def vmapped(x):
    return torch.vmap(lambda row, k: row * k + row.sum())(x, torch.arange(3))


def by_name(x):
    return {"sum": x.sum(), "parts": [x + 1, (x - 1, None)]}


PROGRAMS = [
    write_row,
    write_through_transposed_row,
    stale_views,
    write_a_view_of_a_view,
    write_pieces,
    write_pieces_that_gradients_may_not_know,
    write_diagonal,
    fill_diagonal,
    write_then_change_view,
    fill_a_buffer,
    accumulate,
    write_where_masked,
    into_out,
    mixed_dtypes,
    data_of,
    complex_numbers,
    overlapping_heads,
    vmapped,
    by_name,
]


def flat(outputs):
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    parts = outputs.values() if isinstance(outputs, dict) else outputs or ()
    return [tensor for part in parts for tensor in flat(part)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("how", ["record", "export"])
def test_the_graph_computes_what_the_program_computes(program, how):
    example, other = random(3, 4), random(3, 4, seed=1)
    if how == "export" and program is data_of:
        with pytest.raises(Refused, match=r"torch.export fails"):
            capture(program, (example,), how=how)
        return
    graph = capture(program, (example,), how=how)
    assert torch.equal(example, random(3, 4))
    for x in (example, other):
        expected = flat(program(x.clone()))
        found = run(graph, x)
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=0, atol=0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_graphs_are_pure(program):
    graph = capture(program, (random(3, 4),))
    assert not [name for name in operators(graph) if name.endswith(("_.Tensor", "_.default", "out"))]


LAYERS = {
    "activations": (nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.PReLU(), nn.SiLU(), nn.Softplus()), (3, 4)),
    "norms": (nn.Sequential(nn.LayerNorm(4), nn.RMSNorm(4), nn.GroupNorm(1, 3)), (2, 3, 4)),
    "batch norm": (nn.Sequential(nn.BatchNorm1d(4), nn.Dropout()).eval(), (5, 4)),
    "convolutions": (
        nn.Sequential(nn.Conv2d(3, 4, 3, padding="same"), nn.MaxPool2d(2), nn.ConvTranspose2d(4, 2, 2)),
        (2, 3, 8, 8),
    ),
    "lstm": (nn.LSTM(4, 5, batch_first=True), (2, 3, 4)),
    "gru": (nn.GRU(4, 5, num_layers=2, bidirectional=True), (3, 2, 4)),
    "encoder": (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), (2, 3, 4)),
    "compiled": (torch.compile(nn.Linear(4, 4)), (3, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_torch_compute_in_float64_what_they_compute(name):
    module, shape = LAYERS[name]
    other = random(*shape, seed=1)
    graph = capture(module, (random(*shape),))
    with torch.no_grad():
        expected = flat(module(other))
    for precision, error in (("own", 1e-6), ("float64", 1e-5)):
        for mine, theirs in zip(run(graph, other, precision=precision), expected, strict=True):
            torch.testing.assert_close(mine.float(), theirs, rtol=0, atol=error)


def test_statistics_that_a_layer_updates_are_left_as_they_were():
    layer, x = nn.BatchNorm1d(4), random(5, 4)
    graph = capture(layer, (x,))
    assert layer.num_batches_tracked == 0 and torch.equal(layer.running_mean, torch.zeros(4))
    torch.testing.assert_close(run(graph, x)[0], layer(x).detach(), rtol=0, atol=1e-6)


def test_a_mutated_input_is_seen_by_later_reads_and_left_alone():
    def program(x, y):
        x[0] = y
        y.add_(1)
        return x + y

    x, y = random(3, 4), random(4, seed=1)
    graph = capture(program, (x, y))
    expected = program(x.clone(), y.clone())
    assert torch.equal(run(graph, x, y)[0], expected)
    assert torch.equal(x, random(3, 4))


def test_parameters_and_buffers_hold_afterwards_what_they_held_before():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(random(4))
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x):
            self.seen += 1
            with torch.no_grad():
                self.weight[0] *= 2
            return x * self.weight / self.seen

    module = Counts()
    graph = capture(module, (random(3, 4),))
    assert module.seen == 0 and torch.equal(module.weight, random(4))
    other = random(3, 4, seed=1)
    assert torch.equal(run(graph, other)[0], module(other))
    assert torch.equal(graph.tensors["weight"], random(4))


def test_tied_weights_are_one_node():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(7, 4)
            self.head = nn.Linear(4, 7, bias=False)
            self.head.weight = self.table.weight

        def forward(self, tokens):
            return self.head(self.table(tokens)) + self.head.weight.data.sum()

    graph = capture(Tied(), {"tokens": torch.tensor([[1, 2, 0]])})
    assert [node.name for node in graph.sources("parameter")] == ["table.weight"]
    assert [node.name for node in graph.sources("input")] == ["tokens"]


def test_parameters_that_share_one_storage_are_several():
    class Sliced(nn.Module):
        def __init__(self):
            super().__init__()
            whole = random(8)
            self.a, self.b = nn.Parameter(whole[:4]), nn.Parameter(whole[4:])

        def forward(self, x):
            return x * self.a + self.b

    module = Sliced()
    graph = capture(module, (random(4, seed=1),))
    assert {node.name for node in graph.sources("parameter")} == {"a", "b"}
    assert torch.equal(run(graph, random(4, seed=2))[0], module(random(4, seed=2)))


def test_memory_shared_from_outside_cannot_be_written():
    table = torch.zeros(4)
    left, right = table[:3], table[1:]

    def program(x):
        seen = right + x
        left.copy_(x)
        return seen + right

    with pytest.raises(Refused, match="memory that two tensors from outside share"):
        capture(program, (random(3),))


# ------------------------------------------------------------------------------------------------ what is in a graph


def test_operators_stay_whole_and_copies_vanish():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)

        def forward(self, x):
            y = self.norm(x.contiguous().clone().to(torch.float32).detach())
            return F.dropout(F.softmax(self.proj(y), dim=-1), 0.5, training=False)[:]

    assert operators(capture(Block(), (random(3, 4),))) == [
        "aten.layer_norm.default",
        "aten.linear.default",
        "aten.softmax.int",
    ]


def test_origins_name_line_function_module_and_parameter():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(random(4))

        def forward(self, x):
            return x * self.weight  # the inner line

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Inner(), nn.Sequential(nn.Tanh())])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    graph = capture(Outer(), (random(3, 4),))
    product, tanh = (node for node in graph.nodes if not node.is_source)
    assert product.origin.file.endswith(HERE) and product.origin.module == "layers.0"
    assert (product.origin.function, product.origin.code) == ("forward", "return x * self.weight  # the inner line")
    assert (tanh.origin.module, tanh.origin.code) == ("layers.1.0", "x = layer(x)")
    assert graph["layers.0.weight"].origin == Origin(module="layers.0", parameter="layers.0.weight")


def test_roots_are_named_by_key_and_position():
    graph = capture(by_name, (random(3, 4),))
    assert [name for name, _ in graph.roots] == ["sum", "parts.0", "parts.1.0"]
    assert [name for name, _ in capture(write_row, (random(3, 4),)).roots] == ["0"]


def test_inputs_nest_and_other_arguments_are_part_of_the_program():
    def program(pair, *rest, scale=1.0, **named):
        return pair["a"][0] * scale + rest[0] + named["last"]

    inputs = {"pair": {"a": [random(2)]}, "scale": 3.0, "last": random(2, seed=2)}
    middle = random(2, seed=1)
    graph = capture(lambda pair, scale, last: program(pair, middle, scale=scale, last=last), inputs)
    assert [node.name for node in graph.sources("input")] == ["pair.a.0", "last"]
    x, y = random(2, seed=3), random(2, seed=4)
    expected = program({"a": [x]}, middle, scale=3.0, last=y)
    torch.testing.assert_close(run(graph, x, y)[0], expected)


def test_unused_inputs_stay_and_unused_parameters_go():
    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Parameter(random(2)), nn.Parameter(random(2))

        def forward(self, x, y):
            self.unused * 2
            return x + self.used

    graph = capture(Half(), (random(2), random(2)))
    assert [node.name for node in graph.nodes if node.is_source] == ["x", "y", "used"]


def test_a_function_keeps_the_names_of_the_modules_it_uses():
    module = nn.Linear(4, 2)
    graph = capture(lambda x: module(x) * 2, (random(3, 4),))
    assert {node.name for node in graph.sources("parameter")} == {"weight", "bias"}
    assert {node.name for node in capture(module.forward, (random(3, 4),)).sources("parameter")} == {"weight", "bias"}


def test_literals_and_tensors_from_outside_are_constants():
    table = random(4)
    graph = capture(lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0]) + table, (random(4, seed=1),))
    assert len(graph.sources("constant")) == 2
    table.zero_()
    values = [graph.tensors[node.name] for node in graph.sources("constant")]
    assert any(torch.equal(value, random(4)) for value in values)


def test_factories_say_their_dtype():
    graph = capture(lambda x: x + torch.arange(4) + torch.ones(4), (random(4),))
    assert {str(n.kwargs["dtype"]) for n in graph.nodes if n.operator.startswith(("aten.arange", "aten.ones"))} == {
        "int64",
        "float32",
    }


@torch.library.custom_op("samesame_test::scale_into", mutates_args=("out",))
def scale_into(x: torch.Tensor, out: torch.Tensor, factor: float) -> torch.Tensor:
    out.copy_(x * factor)
    return x.sum(-1)


@torch.library.custom_op("samesame_test::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def test_custom_operators_stay_whole_and_their_writes_are_results():
    def program(x):
        out = torch.zeros(4, 3)
        total = scale_into(x, out.t(), 3.0)
        return halve(out) + total

    graph = capture(program, (random(3, 4),))
    assert {"samesame_test.scale_into.default", "samesame_test.halve.default"} <= set(operators(graph))
    other = random(3, 4, seed=1)
    assert torch.equal(run(graph, other)[0], program(other))


# ------------------------------------------------------------------------------------------------ what is refused


def line_of(program, text):
    """The number of the line of `program` that holds `text`."""
    lines, first = inspect.getsourcelines(program)
    return next(first + k for k, line in enumerate(lines) if text in line)


def item(x):
    return x * x.sum().item()


def condition(x):
    if x.sum() > 0:
        return x
    return -x


def mask(x):
    return x[x > 0].sum()


def leaves_as_list(x):
    return x * sum(x.flatten().tolist())


def leaves_as_array(x):
    return x * float(numpy.sum(x.numpy()))


WEIGHT = nn.Parameter(torch.ones(()))


def parameter_decides(x):
    return x * float(WEIGHT)


def counts(x):
    return x + torch.nonzero(x).shape[0]


def noise(x):
    return x + torch.randn(3, 4)


def drops(x):
    return F.dropout(x, 0.5)


def resizes(x):
    return x.clone().resize_(2, 2)


def fails(x):
    return x @ torch.ones(3, 4)


REFUSED = [
    (item, "x.sum().item()", "on a tensor, so the graph depends on data; pass the value as an argument instead"),
    (condition, "if x.sum() > 0", "uses a tensor as a condition"),
    (leaves_as_list, "x.flatten().tolist()", "calls .tolist()"),
    (leaves_as_array, "x.numpy()", r"calls .numpy\(\) on a tensor"),
    (parameter_decides, "float(WEIGHT)", r"calls float\(\) on a tensor"),
    (counts, "torch.nonzero(x)", "gives the number of rows that data chose to add, so .*; compute all rows"),
    (noise, "torch.randn(3, 4)", "draws random numbers .randn."),
    (drops, "F.dropout(x, 0.5)", "draws random numbers"),
    (resizes, "resize_(2, 2)", "replaces a tensor's memory"),
    (fails, "x @ torch.ones(3, 4)", "raises RuntimeError: mat1 and mat2 shapes"),
]


@pytest.mark.parametrize("program, text, message", REFUSED, ids=lambda part: getattr(part, "__name__", ""))
def test_what_is_refused_is_named_with_its_line(program, text, message):
    with pytest.raises(Refused, match=message) as caught:
        capture(program, (random(3, 4),))
    assert f"{HERE}:{line_of(program, text)}" in str(caught.value)


@pytest.mark.parametrize("program", [item, condition, mask, counts], ids=lambda program: program.__name__)
def test_export_refuses_what_depends_on_data_too(program):
    with pytest.raises(Refused, match="depends on data") as caught:
        capture(program, (random(3, 4),), how="export")
    assert HERE in str(caught.value)


def test_a_constant_may_decide_the_course():
    table = torch.tensor([True, False, True])

    def program(x):
        positions = torch.arange(3)
        if (positions == torch.cumsum(torch.ones_like(x[:, 0], dtype=torch.int64), 0) - 1).all():
            x = x * positions.max().item()
        return x[table] + positions[table].tolist()[1]

    graph = capture(program, (random(3, 4),))
    other = random(3, 4, seed=1)
    assert torch.equal(run(graph, other)[0], program(other))


def test_a_constant_that_data_was_written_into_is_none():
    def program(x):
        box = torch.zeros(4)
        box[0] = x[0, 0]
        return x * box[0].item()

    with pytest.raises(Refused, match="on a tensor, so the graph depends on data"):
        capture(program, (random(3, 4),))


def test_writes_that_torch_does_not_show_are_noticed():
    def program(x):
        y = x * 2
        ctypes.memset(y.data_ptr(), 0, 8)
        return y + 1

    with pytest.raises(Refused, match="in a way torch does not show"):
        capture(program, (random(3, 4),))


def test_tensors_made_behind_torch_are_noticed():
    def program(x):
        memory = (ctypes.c_float * 4)(*[1.0] * 4)
        return x + torch.frombuffer(memory, dtype=torch.float32)

    with pytest.raises(Refused, match="made in a way torch does not show"):
        capture(program, (random(3, 4),))


@pytest.mark.parametrize(
    "program, inputs, message",
    [
        (lambda x: iter(()), (torch.ones(2),), "returns a tuple_iterator .output 0., which is no tensor"),
        (lambda x: 3.0, (torch.ones(2),), "returns no tensor"),
        (lambda x: None, (torch.ones(2),), "returns no tensor"),
        (lambda x: x, (torch.ones(2), 3), "do not fit .*: too many positional arguments"),
        (lambda x: x, {"y": torch.ones(2)}, "do not fit .*: missing a required argument: 'x'"),
        (lambda x: x, 3, "the inputs are an int"),
        (lambda x: x, ({1, 2},), "the input x is a set"),
        (lambda x: x, (torch.ones(2).to_sparse(),), "the input x is a sparse Tensor on cpu"),
        (7, (torch.ones(2),), "an int is no program"),
    ],
)
def test_what_is_no_program_or_no_input_is_refused(program, inputs, message):
    with pytest.raises(Refused, match=message):
        capture(program, inputs)


def test_how_must_be_known():
    with pytest.raises(Refused, match="'script'; give 'record', 'gradients', 'export', 'export\\+decompose'"):
        capture(item, (random(3, 4),), how="script")


def test_recording_works_after_torch_has_frozen_its_backend_flags():
    """Importing torch's own test tools freezes them for the whole process."""
    program = "\n".join([
        "import torch",
        "torch.backends.disable_global_flags()",
        "from samesame.capture import capture",
        "print(len(capture(lambda x: x.exp() + 1, (torch.ones(3),)).nodes))",
    ])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 2


def test_a_program_may_be_captured_under_a_profiler():
    with cProfile.Profile() as profile:
        graph = capture(torch.relu, (torch.randn(2, 3),))
        before = len(profile.getstats())
        torch.ones(1).cumsum(0)
    assert graph.nodes[-1].operator == "aten.relu.default" and before


def test_a_composite_operator_that_came_later_is_decomposed_too():
    """Torch's list of them is made once for each program, and not kept for the next."""
    with torch.library._scoped_library("later", "DEF") as library:

        def decomposed(operator):
            library.define(f"{operator}(Tensor x) -> Tensor")
            library.impl(operator, lambda x: x.exp() + 1, "CompositeImplicitAutograd")
            graph = capture(getattr(torch.ops.later, operator), (torch.ones(3),), how="export+decompose")
            return [node.operator.rpartition(".")[0] for node in graph.nodes if not node.is_source]

        assert decomposed("first") == decomposed("second") == ["aten.exp", "aten.add"]


def written_at(x, t):
    y = x.clone()
    y[:, [t, 0]] = 1.0
    return y


@pytest.mark.parametrize("program", [
    lambda x, t: x[:, [t, 0]], lambda x, t: x[:, (t, 0)], lambda x, t: x[[[t, 0]]], lambda x, t: x[[t] + [0] * 40],
    lambda x, t: x[..., [[t], [0]]], lambda x, t: x[:, deque([t, 0])], lambda x, t: x[deque([[t, 0]])], written_at,
], ids=["a list", "a tuple", "a list of lists", "a long list", "lists in a list", "a queue", "in a queue", "written"])
def test_numbers_that_torch_takes_out_of_tensors_in_a_list_do_not_become_constants(program):
    """It does so out of sight; the verdict would be for the numbers of the example."""
    with pytest.raises(Refused, match=r"list of numbers that tensors hold.*torch\.stack"):
        capture(program, (torch.randn(5, 6), torch.tensor(2)))


def test_a_list_of_constants_is_an_index_as_any_other():
    at = torch.tensor(3)
    graph = capture(lambda x: x[:, [at, 0]], (torch.randn(5, 6),))
    assert "aten.index.Tensor" in {node.operator for node in graph.nodes}
