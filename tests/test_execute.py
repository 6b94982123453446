"""Executing a graph gives what its operators say, in the precision that was asked for."""

from threading import Event, Thread

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from called import calls
from samesame.capture import capture
from samesame.evidence import Refused
from samesame.graph import Dtype, Graph, Node, TensorType
from samesame.operators import kept
from samesame.operators.execute import by_weights, closed, default_dtype, execute
from samesame.operators.kept import run_keeping


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def graph_of(*nodes, tensors=None):
    return Graph("left", nodes, (("0", nodes[-1]),), tensors or {})


def source(operator, name, *shape, dtype="float32"):
    return Node(name, operator, type=TensorType(shape, dtype))


def values(graph, inputs, **options):
    return execute(graph, graph.tensors | inputs, **options)


def test_what_other_ranks_have_is_no_constant_and_neither_is_what_is_made_of_it():
    got = Node("got", "collective.recv", (), {"peer": 1, "tag": 0}, TensorType((2,), "float32"))
    ones = Node("ones", "aten.ones.default", ((2,),), {}, TensorType((2,), "float32"))
    more = Node("more", "aten.add.Tensor", (got, ones), {}, TensorType((2,), "float32"))
    assert closed(graph_of(got, ones, more)) == {"ones"}


def test_float64_widens_everything_that_is_computed_from_data():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 3)

        def forward(self, x, counts):
            y = self.linear(x).to(torch.float16).float()
            mean = counts / 3 + counts.to(torch.bfloat16).sum()
            return y * mean, torch.complex(y, y).abs(), counts + 1, y.sum(dtype=torch.float32)

    module, x, counts = Mixed(), random(2, 4), torch.tensor([[1], [2]])
    graph = capture(module, (x, counts))
    found = values(graph, {})
    oracle = module.double()(x.double(), counts)
    for (_, root), expected in zip(graph.roots[2:3], oracle[2:3], strict=True):
        assert torch.equal(found[root.name], expected)
    linear = module.linear(x.double())
    mean = counts / torch.tensor(3.0, dtype=torch.float64) + counts.sum()
    roots = [found[root.name] for _, root in graph.roots]
    torch.testing.assert_close(roots[0], linear * mean, rtol=1e-14, atol=0)
    torch.testing.assert_close(roots[1], torch.complex(linear, linear).abs(), rtol=1e-14, atol=0)
    torch.testing.assert_close(roots[3], linear.sum(), rtol=1e-14, atol=1e-14)
    kinds = {tensor.dtype for tensor in found.values() if isinstance(tensor, torch.Tensor)}
    assert kinds == {torch.float64, torch.complex128, torch.int64}


def test_own_precision_is_the_program_itself():
    def program(x):
        return F.gelu(x.half()).float().softmax(-1), (x.bfloat16() @ x.bfloat16().t())

    x = random(3, 4)
    graph = capture(program, (x,))
    found = values(graph, {"x": random(3, 4, seed=1)}, precision="own")
    for (_, root), expected in zip(graph.roots, program(random(3, 4, seed=1)), strict=True):
        assert torch.equal(found[root.name], expected)


def test_a_closed_tensor_keeps_the_value_that_its_own_precision_gives():
    def program(x):
        angles = torch.arange(4, dtype=torch.float32) / 7
        return x + angles.cos()

    graph = capture(program, (random(3, 4),))
    operators = {graph[name].operator for name in closed(graph)}
    assert operators == {"aten.arange.default", "aten.div.Tensor", "aten.cos.default"}
    table = (torch.arange(4, dtype=torch.float32) / 7).cos()
    cos = next(node for node in graph.nodes if node.operator == "aten.cos.default")
    found = values(graph, {})
    assert torch.equal(found[cos.name], table.double())
    assert torch.equal(found[graph.roots[0][1].name], random(3, 4).double() + table.double())


def test_values_of_constants_can_be_replaced():
    table = random(4)
    graph = capture(lambda x: x * table, (random(3, 4),))
    (constant,) = graph.sources("constant")
    found = values(graph, {constant.name: torch.zeros(4)})
    assert not found[graph.roots[0][1].name].any()


def test_several_results_are_a_tuple():
    graph = capture(lambda x: torch.topk(x, 2), (random(3, 4),))
    (topk,) = (node for node in graph.nodes if node.operator == "aten.topk.default")
    found = values(graph, {})
    assert isinstance(found[topk.name], tuple) and isinstance(topk.type, tuple)
    assert torch.equal(found[graph.roots[1][1].name], random(3, 4).double().topk(2).indices)


def test_without_keep_only_the_roots_remain():
    def program(x):
        y = x.sin()
        return y, (y + 1).split(2, dim=1)[1] * y[:, :2]

    graph = capture(program, (random(3, 4),))
    kept, roots = values(graph, {}), values(graph, {}, keep=False)
    assert set(roots) == {root.name for _, root in graph.roots}
    assert all(torch.equal(roots[name], kept[name]) for name in roots)
    assert len(kept) == len(graph.nodes)


def test_strides_of_values_do_not_matter():
    graph = capture(lambda x: x.view(6, 2) + torch.view_as_real(torch.view_as_complex(x.view(6, 2))), (random(3, 4),))
    x = random(4, 3).t()
    found = values(graph, {"x": x}, precision="own")
    assert torch.equal(found[graph.roots[0][1].name], 2 * x.reshape(6, 2))


def test_arguments_are_not_written_into():
    x = source("input", "x", 3)
    add = Node("add", "aten.add_.Tensor", (x, 1), type=x.type)
    root = Node("root", "aten.add.Tensor", (x, add), type=x.type)
    value = torch.ones(3)
    found = execute(graph_of(x, add, root), {"x": value}, precision="own")
    assert torch.equal(value, torch.ones(3)) and torch.equal(found["root"], torch.full((3,), 3.0))


def test_memory_without_a_value_shows():
    empty = Node("empty", "aten.empty.memory_format", ((2,),), {"dtype": Dtype("float32")}, TensorType((2,), "float32"))
    assert execute(graph_of(empty), {})["empty"].isnan().all()


def test_the_default_dtype_is_left_alone():
    graph = capture(lambda x: x / 3, (torch.tensor([1, 2]),))
    before = torch.get_default_dtype()
    assert values(graph, {})[graph.roots[0][1].name].dtype == torch.float64
    assert torch.get_default_dtype() == before
    with pytest.raises(Refused):
        execute(graph, {})
    assert torch.get_default_dtype() == before


def test_two_threads_leave_the_default_dtype_alone():
    """One that came while the other was inside would put float64 back as what it had found."""
    graph, before = capture(lambda x: x / 3, (torch.tensor([1, 2]),)), torch.get_default_dtype()
    came, went = Event(), Event()

    def wide():
        came.set()
        values(graph, {}, precision="float64")
        went.set()

    with default_dtype(torch.float64):
        other = Thread(target=wide)
        other.start()
        came.wait()
        assert not went.wait(0.2)
        assert torch.get_default_dtype() == torch.float64
    other.join()
    assert torch.get_default_dtype() == before


X = source("input", "x", 2)


@pytest.mark.parametrize(
    "node, message",
    [
        (Node("y", "aten.nonsense.default", (X,)), "torch has no operator aten.nonsense.default$"),
        (Node("y", "mine.turn.default", (X,)), "mine.turn.default; import the package that defines mine"),
        (Node("y", "aten.bernoulli.default", (X,)), "draws random numbers"),
        (Node("y", "aten.native_dropout.default", (X, 0.5, True)), "draws random numbers"),
        (Node("y", "aten.mm.default", (X, X)), "aten.mm.default fails on these values: self must be a matrix"),
        (Node("y", "aten.view.dtype", (X, Dtype("int32"))), "reads bits as another dtype"),
        (Node("y", "aten.full.default", ((2**46,), 0.0)), "not enough memory for aten.full.default"),
        (source("parameter", "w", 2), "no value is given for the parameter w of left"),
    ],
)
def test_what_cannot_be_executed_is_refused(node, message):
    with pytest.raises(Refused, match=message):
        execute(graph_of(X, node), {"x": torch.ones(2)})


def test_an_operator_with_a_random_part_that_is_off_is_none():
    dropout = Node("y", "aten.native_dropout.default", (X, 0.5, False), type=(X.type, X.type))
    assert torch.equal(execute(graph_of(X, dropout), {"x": torch.ones(2)}, precision="own")["y"][0], torch.ones(2))


def test_precision_must_be_known():
    with pytest.raises(ValueError, match="'float32'; give 'float64' or 'own'"):
        execute(graph_of(X), {"x": torch.ones(2)}, precision="float32")


def test_ten_times_as_many_nodes_take_ten_times_as_long():
    def program(times):
        def run(x):
            for _ in range(times):
                x = (x + 1).sin()
            return x

        return run

    few, many = (capture(program(times), (random(2, 3),)) for times in (150, 1500))
    assert len(many.nodes) == 3001
    assert calls(lambda: values(many, {})) < 15 * calls(lambda: values(few, {}))


def test_as_strided_counts_offsets_from_the_start_of_its_argument():
    def program(x):
        return torch.as_strided(x[2:].clone(), (2, 2), (2, 1), 1)

    x = random(8)
    assert torch.equal(values(capture(program, (x,)), {})["as_strided"], program(x.double()))


@pytest.mark.parametrize("room", [0, 1 << 10, 1 << 30])
def test_what_a_run_forgets_is_computed_again(monkeypatch, room):
    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(5))

        def forward(self, x):
            table = torch.arange(8) / 3                         # a constant, in float32
            for layer in self.layers:
                low, high = (x + table).chunk(2, -1)
                x = layer(torch.cat([high, low], -1)).relu() + x
            return x

    monkeypatch.setattr(kept, "ROOM", room)
    graph = capture(Layers(), (random(3, 8),))
    every, some = execute(graph, graph.tensors), run_keeping(graph, graph.tensors)
    assert set(some) == set(every) and "nothing" not in some
    for order in (list(every), list(reversed(every))):
        for name in order:
            assert same_numbers(some[name], every[name])
    always = {*closed(graph), graph.roots[0][1].name}
    assert sum(size_in_memory(value) for name, value in some._held.items() if name not in always) <= room


def same_numbers(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else torch.equal(a, b)


def size_in_memory(value):
    return sum(map(size_in_memory, value)) if isinstance(value, tuple) else value.numel() * value.element_size()


def test_nodes_that_read_one_weight_run_together_and_after_what_they_read():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, 4, bias=False) for _ in range(3))

        def forward(self, x, y):
            for layer in self.layers:
                x = layer(x)
            for layer in self.layers:
                y = layer(y) * 2
            return self.layers[0](x + y)

    graph = capture(Twice(), (random(2, 4), random(2, 4, seed=1)))
    order = by_weights(graph.nodes)
    place = {node: k for k, node in enumerate(order)}
    assert set(place) == set(graph.nodes)
    assert all(place[part] < place[node] for node in order for part in node.inputs)
    second = next(node for node in order if node.name.endswith("layers.1.weight"))
    first, last = (k(place[node] for node in order if second in node.inputs) for k in (min, max))
    assert last - first <= 2, "although one third of the program lies between them"
    some = execute(graph, graph.tensors, keep=False)
    assert set(some) == {graph.roots[0][1].name}
    assert same_numbers(some[graph.roots[0][1].name], execute(graph, graph.tensors)[graph.roots[0][1].name])


def test_a_weight_that_is_read_again_much_later_is_freed_between(monkeypatch):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.other = nn.Parameter(random(5, 4)), nn.Parameter(random(4, seed=1))

        def forward(self, ids):
            x = self.table[ids]
            for _ in range(6):
                x = (x * self.other).tanh()
            return nn.functional.linear(x, self.table), self.table

    graph, held = capture(Tied(), (torch.tensor([1, 3]),)), []
    monkeypatch.setattr("samesame.operators.execute.FAR", 4)
    whole = execute(graph, graph.tensors)

    class Asked(dict):
        def get(self, name):
            held.append(name)
            return super().get(name)

    found = execute(graph, Asked(graph.tensors), keep=False)
    assert all(same_numbers(found[root.name], whole[root.name]) for _, root in graph.roots)
    assert held.count("table") > 1 and held.count("other") == 1
