"""`--target cuda` where a GPU is; and, where none is, all of it but the GPU: what is timed there is pretended."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.optimize.norms import inputs as of_a_norm
from tests.optimize.norms import norm, norm_linear
from tests.optimize.triton_modules import layer_norm
from torch import nn
from triton.runtime.errors import OutOfResources

from samesame import optimize
from samesame.evidence import Refused
from samesame.formula.expr import Unsupported
from samesame.optimize import cuda, gpu, graphs, racer, verb
from samesame.optimize.attempt import Attempt
from samesame.optimize.contract import contract
from samesame.optimize.cuda import MODEL, Figures, measured, settings
from samesame.optimize.gpu import OnGpu, on_processor
from samesame.optimize.job import Job, copied, keep
from samesame.optimize.partition import stages
from samesame.optimize.schedule import Space, alternatives
from samesame.optimize.timing import Racer
from samesame.optimize.tune import Choice
from samesame.report.optimized import FASTER, NOTHING, Report

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


class Tables(nn.Module):
    """Tensors of every kind: a parameter, a buffer, a plain attribute, and one under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4, 4))
        self.register_buffer("table", torch.rand(4))
        self.plain = torch.rand(4)
        self.again = self.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight + self.table * self.plain + x @ self.again.t()  # type: ignore[operator]


class Square(nn.Module):
    """(q·kᵀ)·v, which is cheaper as q·(kᵀ·v)."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return (q @ k.t()) @ v


class TwoTables(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Embedding(9, 4), nn.Embedding(3, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.a(ids[:, 0]) + self.b(ids[:, 1])


def job_of(module: nn.Module, *args: torch.Tensor) -> Job:
    return Job(module, args, {}, {**dict(module.named_parameters()), **dict(module.named_buffers())})


# -------------------------------------------------------------------------------------------------- jobs, on a device


def test_all_tensors_of_a_job_are_moved_and_those_that_are_one_stay_one() -> None:
    module = Tables()
    job = job_of(module, torch.rand(2, 4))
    job.weights["plain"] = module.plain
    there = job.on("meta")
    assert {x.device.type for x in (*there.weights.values(), *there.args)} == {"meta"}
    assert isinstance(there.program, Tables) and there.program.again is there.program.weight
    assert there.weights["weight"] is there.program.weight and there.weights["plain"] is there.program.plain
    assert module.weight.device.type == module.plain.device.type == "cpu"
    assert job.on("cpu") is job


def test_what_lies_on_the_gpu_is_raced_itself() -> None:
    module, x = Tables(), torch.rand(2, 4)
    attempt = object.__new__(OnGpu)
    attempt.job, attempt.given = job_of(Tables(), x), (module, {"x": x})
    assert attempt.there.program is module and attempt.there.kwargs["x"] is x
    assert attempt.there.weights["weight"] is module.weight and attempt.there.weights["table"] is module.table


def test_a_function_with_tensors_of_its_own_is_not_moved() -> None:
    table = torch.rand(4)
    with pytest.raises(Refused, match="holds table, a tensor that is none of its arguments and cannot be moved to met"):
        Job(lambda x: x * table, (torch.rand(4),), {}, {"table": table}).on("meta")
    alone = Job(torch.relu, (torch.rand(4),), {"out": None}, {}).on("meta")
    assert alone.args[0].is_meta and alone.kwargs == {"out": None}


def test_a_program_on_the_processor_is_not_copied_for_it() -> None:
    assert on_processor(norm, of_a_norm) == (norm, of_a_norm)


def test_a_draw_that_the_program_does_not_take_stays_on_the_processor() -> None:
    """Tables of different lengths: ids in another order raise an error, which ends a process that uses a GPU."""
    module, there = TwoTables(), TwoTables()
    there.load_state_dict(module.state_dict())
    asked = list[torch.Tensor]()
    there.register_forward_pre_hook(lambda _, args: asked.append(args[0]))
    ids = torch.stack([torch.randint(0, 9, (40,)), torch.randint(0, 3, (40,))], -1)
    held = contract(job_of(module, ids), there, number=1, there=job_of(there, ids))
    assert not held.failed and asked and all(int(given[:, 1].max()) < 3 for given in asked)


def test_strides_go_with_a_tensor() -> None:
    x = torch.rand(4, 16)
    kept = [copied(x[:, ::2], "cpu"), copied(x[:1].expand(3, 16), "meta")]
    assert [y.stride() for y in kept] == [(16, 2), (0, 1)]


def test_the_contract_holds_what_runs_elsewhere_to_the_weights_of_the_draw() -> None:
    """The original elsewhere gets each draw's weights; one that keeps its own is found out."""
    job = job_of(nn.Linear(8, 5), torch.randn(6, 8))
    there = Job(nn.Linear(8, 5), job.args, {}, {})
    there.program.load_state_dict(job.program.state_dict())  # type: ignore[attr-defined]
    there.weights = dict(there.program.named_parameters())  # type: ignore[attr-defined]
    held = contract(job, there.program, number=1, there=there)
    assert not held.failed and held.weights == 3
    before = {name: tensor.clone() for name, tensor in there.weights.items()}
    kept = nn.Linear(8, 5)
    kept.load_state_dict(before)
    assert "is off by" in contract(job, kept, number=1, there=there).failed
    assert all(torch.equal(before[name], tensor) for name, tensor in there.weights.items())


# ------------------------------------------------------------------------------------------------- tiles, by measuring


def programs() -> tuple[list[Any], dict[str, int]]:
    space = Space(layer_norm(), stages(layer_norm().outputs, layer_norm().extents))
    (several,) = alternatives(space, gpu=True)
    return [each.program for each in several], dict(space.numbers())


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[Choice]:
    """A device whose kernels are as fast as their warps are many; what was timed."""
    timed = list[Choice]()

    def by_warps(_: Any, c: Choice, binary: Any) -> float:
        timed.append(c)
        return 1.0 / binary.metadata.num_warps

    monkeypatch.setattr(cuda, "present", lambda: MODEL)
    monkeypatch.setattr(cuda._Arguments, "timed", by_warps)
    monkeypatch.setattr(cuda, "TIMED", 2)
    return timed


def test_the_fastest_tiles_are_taken_and_tried_with_other_settings(pretended: list[Choice]) -> None:
    found = measured(*programs(), {}, 60.0)
    assert found.seconds == min(seconds for *_, seconds in found.measured)
    first, rest = pretended[:2], pretended[2:]
    assert len({tuple(c.roles.items()) for c in first}) == 2
    assert rest and {tuple(c.roles.items()) for c in rest} <= {tuple(c.roles.items()) for c in first}
    assert found.numbers in [other.numbers for c in first for other in settings(c)]
    assert max(other.numbers[f"{c.kernels.kernels[0].name} warps"] for c in first for other in settings(c)) == next(
        n for name, n in found.numbers.items() if name.endswith(" warps"))


def test_once_time_is_over_what_was_timed_is_enough(pretended: list[Choice]) -> None:
    assert measured(*programs(), {}, 0.0).measured and len(pretended) == 1


def test_tiles_that_do_not_run_are_left_out_with_a_reason(
    pretended: list[Choice], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> float:
        raise OutOfResources(101376, 65536, "shared memory")

    monkeypatch.setattr(cuda._Arguments, "timed", fails)
    with pytest.raises(Unsupported, match=r"blocks_\w+ does not run: out of resource: shared memory"):
        measured(*programs(), {}, 60.0)
    monkeypatch.setattr(cuda, "built", lambda *_: (Figures(1 << 20, 32, 0), None))
    with pytest.raises(Unsupported, match="no choice of tiles fits sm_90"):
        measured(*programs(), {}, 60.0)


# ---------------------------------------------------------------------------------------------------------- the race


def test_who_measures_is_alone_and_may_ask_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import subprocess
    import sys

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    other = (f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\nfrom samesame.optimize.graphs import alone\n"
             "print('ready', flush=True)\nwith alone(): print('in', flush=True)")
    with graphs.alone(), graphs.alone():
        process = subprocess.Popen([sys.executable, "-c", other], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        assert process.poll() is None
    assert process.communicate()[0] == "in\n"


def test_a_racer_on_a_gpu_times_a_graph_and_plain_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Pretended:
        def __init__(self, call: Callable[[], Any], seconds: float) -> None:
            call()
            assert seconds > 0

        def seconds(self, at_least: float) -> float:
            return 2e-6

    monkeypatch.setattr(graphs, "Graph", Pretended)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr("torch._inductor.runtime.benchmarking.benchmarker.benchmark_gpu", lambda: "measured")
    keep(job_of(nn.Linear(8, 5), torch.randn(6, 8)), tmp_path)
    found = racer.GraphRacer({"folder": str(tmp_path), "file": None, "way": "eager", "threads": 1, "device": "cpu",
                               "precision": "highest", "dtype": "torch.float32"})
    assert found.time() == {"seconds": 2e-6} and found.plain and found.plain > 2e-6
    from torch._inductor.runtime.benchmarking import benchmarker

    assert benchmarker.benchmark_gpu() == "measured"       # as before, and alone


class Pretending(OnGpu):
    """A GPU that is this processor."""

    device, ways = "cpu", ("eager",)
    machine = "a pretended GPU"
    facts = Attempt.facts

    def kernels(self, *_: Any) -> Any:
        return ()


@pytest.mark.long
def test_a_race_on_a_gpu_ends_as_one_on_a_processor_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(verb, "OnGpu", Pretending)
    given = tuple(torch.randn(2048, 64) for _ in range(3))
    found = optimize(Square(), given, target="cuda", minutes=2.0)
    assert found.report.verdict == FASTER and found.report.machine == "a pretended GPU"
    assert "Times are of calls in a CUDA graph" in found.report.notes[-1]
    assert ", in CUDA graphs; " in found.report.headline
    with torch.no_grad():
        torch.testing.assert_close(found.module(*given), Square()(*given), rtol=1e-3, atol=1e-2)


# ----------------------------------------------------------------------------------------------------------- a real one


@needs_gpu
@pytest.mark.parametrize("module, given", [(norm_linear, (torch.randn(19, 40),)), (norm, of_a_norm)])
def test_programs_race_on_the_gpu(module: nn.Module, given: tuple[torch.Tensor, ...], tmp_path: Path) -> None:
    found = optimize(module, given, target="cuda", minutes=3.0, out=tmp_path / "fast")
    report = found.report
    assert report.verdict in (FASTER, NOTHING) and report.best is not None and report.best.seconds
    assert any(row.found and row.seconds for row in report.rows), [row.failed for row in report.rows]
    there = tuple(x.cuda() for x in given)
    with torch.no_grad():
        torch.testing.assert_close(found.module(*there).cpu(), module(*given), rtol=1e-4, atol=1e-4)


@needs_gpu
def test_a_module_that_lives_on_the_gpu_is_searched_on_the_processor() -> None:
    module, given = nn.Linear(8, 5).cuda(), (torch.randn(6, 8).cuda(),)
    here, example = on_processor(module, given)
    assert not here.weight.is_cuda and not example[0].is_cuda and module.weight.is_cuda
    found = optimize(module, given, target="cuda", minutes=1.0)
    assert found.report.best is not None
    with torch.no_grad():
        module.weight.mul_(2.0)                            # what is found stands over the user's own weights
        torch.testing.assert_close(found.module(*given), module(*given))


@needs_gpu
def test_graphs_are_timed_and_what_waits_for_the_gpu_has_none() -> None:
    x = torch.randn(1024, 1024, device="cuda")
    assert 1e-7 < graphs.Graph(lambda: x @ x, 1e-4).seconds(2e-3) < 1e-2
    with pytest.raises(RuntimeError):
        graphs.Graph(lambda: x.sum().item(), 1e-4)


@pytest.mark.parametrize("there", [True, False])
def test_that_one_is_there_is_asked_of_torch(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpu.OnGpu.device == gpu.Untimed.device == "cuda"

    def begun(name: str) -> Callable[..., Any]:
        def attempt(*_: Any) -> Any:
            raise Refused(name)

        return attempt

    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(verb.OnGpu, "__init__", begun("on the GPU"))
    monkeypatch.setattr(verb.Untimed, "__init__", begun("untimed"))
    with pytest.raises(Refused, match="^on the GPU$" if there else "^untimed$"):
        optimize(norm, of_a_norm, target="cuda")


def test_the_headline_says_of_which_calls_faster_holds() -> None:
    attempt = object.__new__(OnGpu)
    attempt.report = Report("a program", verdict=FASTER, evidence="proved for all sizes")
    best, winner = Racer("eager torch", "eager", None), Racer("kernels", "eager", None, 0)
    for one, seconds, plain in ((best, 4e-6, 2e-5), (winner, 2e-6, 3e-5)):
        one.measured, one.plain = [seconds] * 3, plain
    attempt.tabulate([best, winner], best, winner)
    assert attempt.report.headline == (
        "2.00 × as fast as eager torch, the best there was, in CUDA graphs; proved for all sizes")
    assert attempt.report.notes[-1] == "Called one by one from Python, it takes 30 µs, and eager torch 20 µs."
