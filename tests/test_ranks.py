"""Ranks are recorded one at a time, in one process, as if the others were there; what that cannot show is refused."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest
import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.distributed import _functional_collectives as functional
from torch.distributed._local_tensor import LocalTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore

from rankwise import JOBS, captured, load, run
from samesame.capture.ranks.graphs import placements
from samesame.capture.ranks.group import one_of
from samesame.capture.ranks.libraries import forgotten
from samesame.capture.ranks.placements import placed
from samesame.capture.ranks.record import capture_ranks, capture_sequential
from samesame.capture.ranks.world import lockstep, world
from samesame.evidence import Refused
from samesame.operators.execute import execute
from samesame.programs.named import seeded


class Net(nn.Module):
    def __init__(self, inner=8):
        super().__init__()
        self.table, self.up, self.down = nn.Embedding(10, 6), nn.Linear(6, inner), nn.Linear(inner, 6)

    def forward(self, words):
        return self.down(self.up(self.table(words)).relu())


PLAN = {"table": RowwiseParallel(input_layouts=Replicate()), "up": ColwiseParallel(), "down": RowwiseParallel()}
WORDS = torch.tensor([[1, 9, 4], [0, 5, 7]])


def parallel(rank, world_size, mesh, inner=8):
    plan = PLAN if inner % world_size == 0 else PLAN | {"up": ColwiseParallel(use_local_output=False)}
    return parallelize_module(Net(inner), mesh, plan)


def net(inner=8):
    with seeded(0):
        return Net(inner)


# -------------------------------------------------------------------------------------------------------- what is there


def test_local_weights_are_the_parts_of_the_whole_that_their_placements_say():
    whole = dict(net().named_parameters())
    for graph in capture_ranks(parallel, (WORDS,), 2, mesh={"tp": 2}, backward=True):
        places = placements(graph)
        assert set(whole) <= set(places)
        for name, weight in whole.items():
            assert torch.equal(graph.tensors[name], places[name].part(weight.detach()))
        assert places["grad.up.weight"].placements == ("S(0)",)


@pytest.mark.parametrize("inner", [8, 10])
def test_shards_may_be_uneven(inner):
    """Ten rows over four ranks are 3, 3, 3 and 1; ten words over four ranks too."""
    ranks = capture_ranks(lambda rank, size, mesh: parallel(rank, size, mesh, inner), (WORDS,), 4, mesh={"tp": 4})
    together = world(ranks)
    found = execute(together, together.tensors)
    for _, root in together.roots:
        torch.testing.assert_close(found[root.name], net(inner).double()(WORDS), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("made", [False, True])
def test_shapes_that_are_worked_out_on_meta_are_no_values(made):
    """DTensor does so for operators that it has no rule of its own for; a program that returns one is refused."""
    def program(rank, size, mesh):
        def loss(x, y):
            wanted = distribute_tensor(y, mesh, [Shard(0)])
            found = nn.functional.mse_loss(distribute_tensor(x, mesh, [Shard(0)]).sin(), wanted).full_tensor()
            return torch.empty(3, device="meta").exp() if made else found

        return loss

    given = torch.randn(4, 3), torch.randn(4, 3)
    if made:
        with pytest.raises(Refused, match="on meta; use an ordinary dense tensor"):
            capture_ranks(program, given, 2, mesh={"dp": 2})
        return
    together = world(capture_ranks(program, given, 2, mesh={"dp": 2}))
    found = execute(together, together.tensors)
    for _, root in together.roots:
        wanted = nn.functional.mse_loss(given[0].double().sin(), given[1].double())
        torch.testing.assert_close(found[root.name], wanted, rtol=1e-6, atol=1e-6)


MESHES = [
    ({"tp": 4}, [Shard(0)]),
    ({"dp": 2, "tp": 2}, [Shard(1), Shard(0)]),
    ({"dp": 2, "tp": 2}, [Shard(0), Shard(0)]),
    ({"dp": 2, "tp": 2}, [_StridedShard(0, split_factor=2), Shard(0)]),
    ({"dp": 2, "tp": 2}, [Replicate(), _StridedShard(0, split_factor=2)]),
    ({"dp": 2, "tp": 4}, [Replicate(), Shard(1)]),
]


@pytest.mark.parametrize("sizes, how", MESHES, ids=str)
def test_placements_as_runs_of_indices(sizes, how):
    whole = torch.arange(8 * 6).reshape(8, 6)
    size = torch.Size(sizes.values()).numel()
    for rank in range(size):
        with one_of(rank, size):
            mesh = init_device_mesh("cpu", tuple(sizes.values()), mesh_dim_names=tuple(sizes))
            tensor = distribute_tensor(whole, mesh, how, src_data_rank=None)
            assert torch.equal(placed(tensor).part(whole), tensor.to_local())


def test_nodes_have_the_users_lines_backward_too():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            y = self.a(x).exp()
            return functional.all_reduce(self.b(y), "sum", dist.group.WORLD) * 1

    first = Two.forward.__code__.co_firstlineno + 1
    graph = capture_ranks(lambda rank, size: Two(), (torch.randn(2, 3),), 2, backward=True)[1]
    expected = {"exp": 0, "addmm": 0, "addmm_1": 1, "all_reduce": 1, "all_reduce_1": 1}
    assert {name: graph[name].origin.line - first for name in expected} == expected
    roots = dict(graph.roots)
    assert (roots["grad.a.weight"].origin.line - first, roots["grad.a.weight"].origin.module) == (0, "a")
    assert (roots["grad.b.bias"].origin.line - first, roots["grad.b.bias"].origin.module) == (1, "b")
    assert all(graph[name].origin.file == "tests/test_ranks.py" for name in expected)


def test_a_derivative_written_by_the_user_has_its_own_line():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad.negative()

    graph = capture_sequential(lambda x: Twice.apply(x), (torch.randn(3),), backward=True)
    assert dict(graph.roots)["grad.x"].origin.line == Twice.backward.__code__.co_firstlineno + 2


def test_gradients_are_those_of_autograd():
    x, module = torch.randn(4, 3), nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.LayerNorm(5)).double().float()
    graph = capture_sequential(module, (x,), backward=True)
    found = execute(graph, graph.tensors)
    y = module.double()(x.double().requires_grad_())
    wanted = torch.autograd.grad((y * graph.tensors["cotangent.0"]).sum(), list(module.parameters()))
    for (name, _), value in zip(module.named_parameters(), wanted, strict=True):
        torch.testing.assert_close(found[dict(graph.roots)[f"grad.{name}"].name], value, rtol=1e-9, atol=1e-9)


LABELS = torch.tensor([[3, 1, 4, 1, 0, 2, 2, 4, 3], [4, 0, 1, 3, 1, 2, 4, 1, 0]])
F = nn.functional
DERIVATIVES = {
    "embedding with padding": lambda w: F.embedding(LABELS, w, padding_idx=1),
    "embedding by frequency": lambda w: F.embedding(LABELS[0], w, scale_grad_by_freq=True),
    "softmax": lambda x: F.softmax(x, 1) * F.log_softmax(x, 0),
    "cross entropy": lambda x: F.cross_entropy(x, LABELS[0, :5], ignore_index=2, label_smoothing=0.1),
    "layer norm": lambda x: F.layer_norm(x, (5,)),
    "rms norm": lambda x: F.rms_norm(x, (5,), x[0], 1e-5),
    "group norm": lambda x: F.group_norm(x.reshape(1, 5, 5), 5),
    "gelu": lambda x: F.gelu(x, approximate="tanh") + F.silu(x) * F.softplus(x) + F.leaky_relu(x) * F.elu(x),
    "sigmoid and tanh": lambda x: x.sigmoid() * x.tanh() + F.hardswish(x) + F.mish(x) * F.logsigmoid(x),
    "log of a sigmoid": lambda x: F.logsigmoid(9 * x) + F.logsigmoid(-x),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None] * 2, x[None], is_causal=True),
    "indexing": lambda x: x[LABELS[0, :4], LABELS[1, :4]] * x[1:3, ::2].sum() + x.gather(1, LABELS[:, :5].t()).sum(),
    "slices and selections": lambda x: x[:, 1] * x[2, :] + x.diagonal() + x.unfold(0, 5, 1)[0, 0],
    "maxima": lambda x: x.amax(1) + x.max(0).values + x.sort(1).values[:, 0] + x.topk(2, 1).values.sum(1),
    "running sums": lambda x: x.cumsum(0) + x.logsumexp(1, keepdim=True) + x.norm(dim=0),
    "convolution": lambda x: F.conv1d(x[None], x[:, :3].reshape(3, 5, 1)),
    "minimum": lambda x: torch.minimum(x, x.t() * 2) + torch.where(x > 0, x.exp(), x) + x.clamp(-0.5, 0.5),
}


@pytest.mark.parametrize("what", DERIVATIVES)
def test_derivatives_in_plain_operators_are_those_of_autograd(what):
    x = torch.randn(5, 5, generator=torch.Generator().manual_seed(3))
    graph = capture_sequential(DERIVATIVES[what], (x,), backward=True)
    found = execute(graph, graph.tensors)[dict(graph.roots)["grad." + graph.sources("input")[0].name].name]
    wide = x.double().requires_grad_()
    y = DERIVATIVES[what](wide)
    (wanted,) = torch.autograd.grad((y * graph.tensors["cotangent.0"]).sum(), [wide])
    torch.testing.assert_close(found, wanted, rtol=1e-7, atol=1e-7)
    whole = {node.operator for node in graph.nodes if "_backward" in node.operator}
    assert whole <= {"aten.convolution_backward.default"}                              # which torch cannot open either


def test_a_loss_is_differentiated_alone_and_hooks_run():
    module = nn.Linear(3, 1)
    module.weight.register_hook(lambda grad: grad * 3)

    def program(x):
        y = module(x)
        return {"loss": y.sum(), "logits": y}

    graph = capture_sequential(program, (torch.ones(2, 3),), backward=True)
    found = execute(graph, graph.tensors | {"cotangent.loss": torch.tensor(1.0)})
    assert "cotangent.logits" not in graph.tensors
    assert found[dict(graph.roots)["grad.weight"].name].tolist() == [[6, 6, 6]]
    assert module.weight.grad is None


def test_nothing_of_one_rank_is_left_for_the_next():
    assert not dist.is_initialized()
    first, second = capture_ranks(parallel, (WORDS,), 2, mesh={"tp": 2})
    assert not dist.is_initialized()
    assert str(first["sub"].args[1]) == "0" and str(second["sub"].args[1]) == "5"      # where each rank's words start


def test_tracebacks_do_not_begin_with_a_rank_afterwards(capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)           # whatever a test before has left there
    capture_ranks(lambda rank, size: torch.sin, (torch.ones(2),), 2)
    sys.excepthook(ValueError, ValueError("wrong"), None)
    assert capsys.readouterr().err == "ValueError: wrong\n"


def test_capturing_leaves_weights_gradients_and_environment_as_they_were():
    module, environment = nn.Linear(2, 2), dict(os.environ)
    module(torch.ones(2)).sum().backward()
    before = [weight.grad.clone() for weight in module.parameters()]
    capture_ranks(lambda rank, size: module, (torch.randn(3, 2),), 2, backward=True)
    assert all(torch.equal(w.grad, g) for w, g in zip(module.parameters(), before, strict=True))
    assert dict(os.environ) == environment


# ------------------------------------------------------------------------------------------------------ what is refused


REFUSED = {
    "a value read after a collective": (
        lambda x: functional.all_reduce(x.sum(), "sum", dist.group.WORLD).item() * x, r"\.item\(\)"
    ),
    "dropout": (lambda x: nn.functional.dropout(x, 0.5, True), r"draws random numbers .* call \.eval\(\)"),
    "messages from anyone": (lambda x: dist.recv(x * 1), "receives from any rank"),
    "a message to oneself": (lambda x: dist.isend(x, dist.get_rank()), "sends a message to itself"),
    "a message from oneself": (lambda x: dist.irecv(x * 1, dist.get_rank()), "receives a message from itself"),
    "a batch of messages to oneself": (
        lambda x: dist.batch_isend_irecv([dist.P2POp(dist.isend, x, dist.get_rank())]), "sends a message to itself"
    ),
    "bitwise reductions": (
        lambda x: dist.all_reduce((x > 0).int(), dist.ReduceOp.BAND), "reduces by band, which is not supported"
    ),
    "objects": (lambda x: dist.all_gather_object([None, None], 3), "draws|item|numpy|depends on data|memory"),
    "memory in another order": (lambda x: dist.all_reduce(x.t()), r"not contiguous; call \.contiguous\(\)"),
    "the wrong group": (lambda x: functional.all_reduce(x, "sum", dist.new_group([1])), "group"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_the_line(what):
    program, reason = REFUSED[what]
    with pytest.raises(Refused, match=reason) as caught:
        capture_ranks(lambda rank, size: program, (torch.randn(2, 2),), 2)
    assert f"tests/test_ranks.py:{program.__code__.co_firstlineno}" in str(caught.value)


def test_programs_that_cannot_be_built_are_refused_with_the_line():
    def broken(rank, size):
        return torch.ones(3).view(size, -1)

    with pytest.raises(Refused, match=rf"test_ranks.py:{broken.__code__.co_firstlineno + 1} raises RuntimeError"):
        capture_ranks(broken, (), 2)
    with pytest.raises(Refused, match="has 4 ranks, and the world 2"):
        capture_ranks(parallel, (WORDS,), 2, mesh={"dp": 2, "tp": 2})
    with pytest.raises(Refused, match="0 ranks"):
        capture_ranks(parallel, (WORDS,), 0)


def data_parallel():
    def program(rank, size):
        return nn.parallel.DistributedDataParallel(nn.Linear(2, 2))

    return capture_ranks(program, (torch.ones(3, 2),), 2, backward=True)


def test_a_reducers_buckets_are_seen_and_averaged():
    together = lockstep(data_parallel())
    values = execute(together.graph, together.graph.tensors | {"r1.inputs.0": torch.full((3, 2), 5.0)})
    cotangent, roots = together.graph.tensors["r0.cotangent.0"].double(), dict(together.graph.roots)
    for rank in range(2):
        found = values[roots[f"r{rank}.grad.module.weight"].name]
        torch.testing.assert_close(found, cotangent.sum(0).unsqueeze(1) * torch.full((1, 2), 3.0).double())
    assert [meeting.op for meeting in together.meetings] == ["sum"]


def test_a_communication_hook_that_was_there_before_is_refused():
    hooked = nn.parallel.DistributedDataParallel.register_comm_hook

    def program(rank, size):
        module = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
        hooked(module, None, lambda state, bucket: None)
        return module

    with pytest.raises(Refused, match="given a communication hook before its rank was made"):
        capture_ranks(program, (torch.ones(3, 2),), 2, backward=True)


def test_a_process_that_belongs_to_a_group_is_refused():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        with pytest.raises(Refused, match="destroy_process_group"):
            capture_ranks(lambda rank, size: nn.Linear(2, 2), (torch.ones(2),), 2)
    finally:
        dist.destroy_process_group()


def test_a_part_of_a_weight_taken_beforehand_is_no_constant():
    module = nn.Linear(2, 4)
    flat, half = module.weight.data.view(-1), module.weight.data[:2]
    graph = capture_sequential(lambda x: x * flat + module(x[:2]).sum(), (torch.ones(8),))
    assert [node.name for node in graph.sources("constant")] == []
    with pytest.raises(Refused, match="part of a weight"):
        capture_sequential(lambda x: half @ x + module(x).sum(), (torch.ones(2),))


# ------------------------------------------------------------------------------------------------------- against torch


def test_the_world_computes_what_torchs_own_simulation_does():
    ranks = capture_ranks(parallel, (WORDS,), 2, mesh={"tp": 2})
    together = lockstep(ranks).graph
    values = execute(together, together.tensors, precision="own")
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        with LocalTensorMode(2), torch.no_grad():
            mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
            with seeded(0):
                model = parallelize_module(Net(), mesh, PLAN)
            simulated = model(WORDS)
            local = [simulated.reconcile() if hasattr(simulated, "reconcile") else simulated] * 2
    finally:
        dist.destroy_process_group()
    for (_, root), wanted in zip(together.roots, local, strict=True):
        torch.testing.assert_close(values[root.name], wanted, rtol=1e-6, atol=1e-6)


def test_a_librarys_proxy_is_not_asked_what_it_is(monkeypatch):
    """Some load what they stand for, which takes seconds, to answer isinstance."""

    class Proxy:
        @property
        def __class__(self):
            asked.append(self)
            return object

    asked, library = [], ModuleType("library_with_a_proxy")
    library.proxy, library.group = Proxy(), None
    monkeypatch.setitem(sys.modules, library.__name__, library)
    with forgotten():
        library.group = "this is rank 1"
    assert library.group is None and not asked


REAL = ("megatron_mlp", "sequence_parallel", "expert_parallel", "ring_attention", "pipeline", "accumulation")


def really(rank, world_size, folder):
    """One rank of every job in REAL, in a process of its own, with data that really moves."""
    sys.path[:0] = [str(JOBS), str(JOBS.parent)]
    store = dist.FileStore(f"{folder}/store", world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)
    from rankwise import load, local_inputs

    outputs = {}
    for name in REAL:
        job = load(name)
        with seeded(0):
            program = job.distributed(rank, world_size)
        sequential = job.sequential()
        with seeded(1):
            inputs = local_inputs(job, sequential, rank, world_size)
        found = program(**inputs) if isinstance(inputs, dict) else program(*inputs)
        found = found if isinstance(found, dict) else {"0": found}
        outputs[name] = {key: value.detach() for key, value in found.items()}
    torch.save(outputs, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.mark.long
def test_the_world_computes_what_real_processes_do(tmp_path):
    multiprocessing.spawn(really, (2, str(tmp_path)), nprocs=2)
    real = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    for name in REAL:
        job = load(name)
        _, _, outputs = run(job, *captured(job), precision="own")
        for found, wanted in zip(outputs, real, strict=True):
            for key, value in wanted[name].items():
                torch.testing.assert_close(found[key], value, rtol=1e-5, atol=1e-5, msg=f"{name}, output {key}")
