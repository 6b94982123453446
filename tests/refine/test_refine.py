"""refine on real jobs: correct programs refine, planted mistakes do not, and the report says where."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from samesame.evidence import Refinement, Refused, Rung
from samesame.programs.named import module_of_file
from samesame.refine import load_job, refine
from samesame.report.refinement import plain_text

JOBS = Path(__file__).parent.parent / "jobs"
PLANTED = module_of_file(JOBS / "rank_faults.py").PLANTED
# Where another operator is named: what the ranks do in another order than the sequential program is lost early.
MISNAMED = {("vocabulary_loss", "one_subtracted_on_every_rank")}


def jobs() -> Iterator[tuple[str, str | None]]:
    for path in sorted(JOBS.glob("*.py")):
        job = module_of_file(path)
        if hasattr(job, "sequential"):
            faults = (None, *getattr(job, "faults", ()))
            yield from ((path.stem, fault) for fault in faults)


def decided(name: str, fault: str | None) -> Refinement:
    given: dict[str, Any] = load_job(str(JOBS / f"{name}.py"))
    if fault is not None:
        given["distributed"] = partial(given["distributed"], fault=fault)
    return refine(**given)


def test_every_fault_is_in_the_table_of_what_is_planted() -> None:
    table = [(row.job, row.fault) for row in PLANTED]
    assert sorted(table) == sorted((name, fault) for name, fault in jobs() if fault is not None)
    assert len(MISNAMED) <= len(table) // 10


@pytest.mark.parametrize("name, fault", list(jobs()))
def test_correct_jobs_refine_and_planted_mistakes_do_not(
    name: str, fault: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of a mistake, the verdict names the operator whose counterpart was changed, or the first that reads it."""
    monkeypatch.setattr(sys.modules["samesame.refine.mending"], "_SECONDS", 0.2)
    verdict = decided(name, fault)
    if fault is None:
        assert verdict.verdict == "refines" and verdict.evidence >= Rung.PROVED_HERE, plain_text(verdict)
        assert all(output.holds for output in verdict.outputs)
    else:
        assert verdict.verdict == "does not refine", plain_text(verdict)
        assert any(output.evidence.rung is Rung.REFUTED for output in verdict.outputs)
        assert verdict.loss is not None
        planted, site = next(row for row in PLANTED if (row.job, row.fault) == (name, fault)), verdict.loss.operator
        assert planted.is_named(site.operator, site.origin) != ((name, fault) in MISNAMED), plain_text(verdict)


@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("name", ["pipeline_stages", "pipeline_inference"])
def test_pipelines_of_fewer_stages_refine_too(name: str, stages: int) -> None:
    verdict = refine(**load_job(str(JOBS / f"{name}.py")) | {"world_size": stages})
    assert verdict.verdict == "refines" and verdict.evidence >= Rung.PROVED_HERE, plain_text(verdict)


def test_each_stage_has_the_gradients_of_its_own_weights() -> None:
    verdict = decided("pipeline_stages", None)
    words = {output.name: output.words for output in verdict.outputs}
    assert words["loss"] == "whole on rank 3 only" and words["grad.layers.1.up.weight"] == "whole on rank 1 only"


def stages(rank: int, ranks: int) -> Any:
    """The first stage shows what it sends under the name of the output."""
    import torch.distributed as dist

    first, second = nn.Linear(6, 6), nn.Linear(6, 3)

    def run(x: torch.Tensor) -> torch.Tensor:
        x = x.clone() if rank else first(x)
        (dist.recv if rank else dist.send)(x, 1 - rank)
        return second(x) if rank else x

    return run


def test_another_tensor_under_an_outputs_name_fails_unless_it_is_declared() -> None:
    job = {"sequential": lambda: nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 3)), "distributed": stages}
    verdict = refine(**job, inputs=example)
    assert verdict.verdict == "does not refine"
    assert verdict.outputs[0].words == "rank 1 has it, and rank 0 something else under its name, [5, 6]"
    verdict = refine(**job, inputs=example, expected={"0": "replicated on the last rank"})
    assert verdict.verdict == "refines" and "0 of rank 0" in "".join(verdict.notes)


def test_a_missing_reduction_is_named_and_mended() -> None:
    verdict = decided("megatron_mlp", "no_forward_all_reduce")
    assert verdict.loss is not None and verdict.diagnosis
    assert "summed over all ranks" in verdict.diagnosis[0].description


def test_a_bias_on_every_rank_is_mended_by_adding_it_once() -> None:
    verdict = decided("megatron_mlp", "bias_on_every_rank")
    assert any("down_bias is added on rank 0 only" in edit.description for edit in verdict.diagnosis)


@pytest.mark.parametrize("job, fault, edit", [
    ("sequence_parallel", "norm_gradients_not_reduced", "are summed over all ranks before the ranks return them"),
    ("simple_fsdp", "sum_for_mean", "are divided by 2"),
    ("pipeline_inference", "micro_batches_in_reverse", "sends its 2 messages to rank 1 in the reverse order"),
    ("pipeline_inference", "input_added_again", "is left out, in all 2 places where the line runs"),
])
def test_what_outputs_messages_and_micro_batches_lack_is_mended(job: str, fault: str, edit: str) -> None:
    assert any(edit in found.description for found in decided(job, fault).diagnosis)


@pytest.mark.long
def test_a_gradient_that_is_a_partial_sum_fails_unless_it_is_declared() -> None:
    verdict = decided("sequence_parallel", "norm_gradients_not_reduced")
    kinds = {output.name: output.kind for output in verdict.outputs}
    assert kinds["grad.norm.weight"] == "partial" and verdict.verdict == "does not refine"
    given = load_job(str(JOBS / "sequence_parallel.py"))
    given["distributed"] = partial(given["distributed"], fault="norm_gradients_not_reduced")
    given["expected"] |= {"grad.norm.weight": "partial", "grad.norm.bias": "partial"}
    assert refine(**given).verdict == "refines"


# ------------------------------------------------------------------------------------------------ any number of ranks


@pytest.mark.parametrize("ranks", [2, 8])
def test_heads_are_repeated_by_a_rank_or_shared_by_ranks(ranks: int) -> None:
    """The sequential program repeats them before it turns them, so that each is the same as its neighbour is known only
    where they are made."""
    given = load_job(str(JOBS / "megatron_attention.py"))
    given["sequential"].__globals__["HEADS"] = max(4, ranks)
    assert refine(**given | {"world_size": ranks}).verdict == "refines"


class Columns(nn.Module):
    """A layer cut by columns, and gathered."""

    def __init__(self, rank: int, ranks: int, shift: int = 0) -> None:
        super().__init__()
        whole = layer()
        self.weight = nn.Parameter(whole.weight.detach().chunk(ranks)[(rank + shift) % ranks].clone())
        self.rank, self.ranks = rank, ranks

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from torch.distributed import _functional_collectives as collectives

        return collectives.all_gather_tensor(x @ self.weight.t(), 1, list(range(self.ranks)))


def layer() -> nn.Linear:
    torch.manual_seed(3)
    return nn.Linear(6, 24, bias=False)


def example() -> tuple[torch.Tensor]:
    return (torch.randn(5, 6),)


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_one_rule_serves_every_rank(ranks: int) -> None:
    verdict = refine(layer, Columns, example, world_size=ranks)
    assert verdict.verdict == "refines" and verdict.counts["proofs"] <= 3


def test_a_rank_with_anothers_weight_is_found() -> None:
    verdict = refine(layer, partial(Columns, shift=1), example, world_size=4)
    assert verdict.verdict == "does not refine"


class Biased(nn.Module):
    """Every rank computes everything; only those that are told to use their copy of the bias."""

    def __init__(self, uses_bias: bool) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(layer().weight.detach()), nn.Parameter(torch.arange(24.0))
        self.uses_bias = uses_bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.t() + (self.bias if self.uses_bias else torch.arange(24.0))


@pytest.mark.parametrize("ranks_with, verdict", [((0, 1), "refines"), ((0,), "does not refine")])
def test_a_rank_that_has_a_weight_and_no_gradient_of_it_fails(ranks_with: tuple[int, ...], verdict: str) -> None:
    found = refine(lambda: Biased(True), lambda rank, _: Biased(rank in ranks_with), example, backward=True)
    words = {output.name: output.words for output in found.outputs}
    assert found.verdict == verdict, plain_text(found)
    assert ("rank 1 has the weight, and no gradient" in words["grad.bias"]) == (verdict != "refines")


# ---------------------------------------------------------------------------------------------------------- bad input


class Local(nn.Module):
    """Ranks that compute everything, each for itself; `weight` replaces the weight."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.t()


def own(weight: torch.Tensor) -> Any:
    return lambda rank, ranks: Local(weight.clone())


@pytest.mark.parametrize("given, what", [
    ({"relations": {"y": "shard(0)"}}, "a relation is given for y"),
    ({"relations": {"input": "shard(0) over tp"}}, "names the axis tp"),
    ({"relations": {"input": "shard(4)"}}, "input has 2 dimensions"),
    ({"relations": {"weight": "shard(0)"}}, "weight is given as shard.*but it has"),
    ({"expected": {"loss": "replicated"}}, "an output loss is expected"),
    ({"expected": {"0": "everywhere"}}, "placement 'everywhere' of 0 is unknown"),
    ({"distributed": own(torch.randn(24, 6))}, "weight of rank 0.*no piece of the sequential weights"),
    ({"distributed": own(layer().weight.detach()[:6])}, "part of weight is on no rank"),
])
def test_what_contradicts_itself_is_refused_by_name(given: dict[str, Any], what: str) -> None:
    job = {"sequential": layer, "distributed": own(layer().weight.detach()), "inputs": example} | given
    with pytest.raises(Refused, match=what):
        refine(**job, world_size=2)


def test_outputs_of_other_names_are_refused() -> None:
    def distributed(rank: int, ranks: int) -> Any:
        module = Local(layer().weight.detach().clone())
        return lambda x: {"y": module(x)}

    with pytest.raises(Refused, match="returns 0 and rank 0 returns y"):
        refine(layer, distributed, example)


def test_inputs_of_ranks_are_whole_in_a_world_of_one_and_outputs_may_be_named_by_position() -> None:
    """Rows, each rank with its own: what `inputs(rank, world_size)` gives one rank alone is the example."""
    def inputs(rank: int, world_size: int) -> tuple[torch.Tensor]:
        return (torch.arange(12.0).reshape(4, 3).chunk(world_size)[rank],)

    def doubled() -> Any:
        return lambda x: 2 * x

    found = refine(doubled, lambda rank, ranks: doubled(), inputs, world_size=2, expected={0: "shard(-2)"})
    assert found.verdict == "refines", plain_text(found)
    assert refine(doubled, lambda rank, ranks: doubled(), inputs, world_size=2).verdict == "does not refine"
