"""Distributed jobs (tests/jobs) run in lock-step beside their sequential program, and compared by values alone.

    job = load("megatron_mlp")
    unrelated(job)                        # names of outputs that are no whole, shard or sum of what the ranks hold
    unrelated(job, fault="bias_on_every_rank")
"""

from __future__ import annotations

import inspect
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from samesame.capture.ranks.graphs import RankGraph
from samesame.capture.ranks.record import capture_ranks, capture_sequential
from samesame.capture.ranks.world import World, lockstep
from samesame.operators.execute import execute
from samesame.programs.named import module_of_file, seeded

JOBS = Path(__file__).parent / "jobs"
TOLERANCE = 1e-6                          # closed tensors are float32


def load(name: str) -> ModuleType:
    return module_of_file(JOBS / f"{name}.py")


def names() -> list[str]:
    """Every job but the slow one."""
    found = [path.stem for path in sorted(JOBS.glob("*.py"))]
    return [name for name in found if hasattr(load(name), "distributed") and name != "hf_tensor_parallel"]


def cut(tensor: torch.Tensor, relation: str | None, rank: int, world_size: int) -> torch.Tensor:
    """The part of a sequential tensor that a rank holds: `sharded(1)`, or all of it."""
    if relation is None or not relation.startswith("sharded("):
        return tensor
    return tensor.chunk(world_size, int(relation[len("sharded(") : -1]))[rank]


def local_inputs(job: ModuleType, program: Any, rank: int, world_size: int) -> Any:
    if hasattr(job, "local_inputs"):
        return job.local_inputs(rank, world_size)
    given, relations = job.inputs(), getattr(job, "relations", {})
    if isinstance(given, dict):
        return {name: cut(x, relations.get(name), rank, world_size) for name, x in given.items()}
    target = program.forward if isinstance(program, torch.nn.Module) else program
    named = zip(inspect.signature(target).parameters, given, strict=False)
    return tuple(cut(x, relations.get(name), rank, world_size) for name, x in named)


@cache
def sequential_of(job: ModuleType, **options: Any) -> tuple[Any, RankGraph]:
    """The sequential program and its graph."""
    with seeded(0):
        program = job.sequential(**options)
    with seeded(1):
        inputs = job.inputs()
    return program, capture_sequential(program, inputs, backward=getattr(job, "backward", False))


def captured(job: ModuleType, **options: Any) -> tuple[RankGraph, tuple[RankGraph, ...]]:
    """The sequential graph and the ranks'. Options go to the job's functions, `fault` only to `distributed`."""
    program, sequential = sequential_of(job, **{name: value for name, value in options.items() if name != "fault"})
    ranks = capture_ranks(
        partial(job.distributed, **options),
        partial(local_inputs, job, program),
        job.world_size,
        mesh=getattr(job, "mesh", None),
        backward=getattr(job, "backward", False),
    )
    return sequential, ranks


def run(
    job: ModuleType, sequential: RankGraph, ranks: tuple[RankGraph, ...], precision: str = "float64"
) -> tuple[World, dict[str, torch.Tensor], list[dict[str, torch.Tensor]]]:
    """The world, the sequential outputs by name, and each rank's outputs by name."""
    world = lockstep(ranks)
    values = dict(world.graph.tensors)
    relations = getattr(job, "relations", {})
    for name, tensor in sequential.tensors.items():
        for k, graph in enumerate(ranks):
            if name.startswith("cotangent.") and name in graph.tensors:
                place = graph.placed.get(name)
                part = place.part(tensor) if place else cut(tensor, relations.get(name), k, len(ranks))
                values[f"r{k}.{name}"] = part
    one = execute(sequential, sequential.tensors, precision=precision)
    all_ = execute(world.graph, values, precision=precision)
    roots = dict(world.graph.roots)
    outputs = [{root: all_[roots[f"r{k}.{root}"].name] for root, _ in graph.roots} for k, graph in enumerate(ranks)]
    return world, {root: one[node.name] for root, node in sequential.roots}, outputs


def unrelated(job: ModuleType, **options: Any) -> list[str]:
    """Outputs of the sequential program that are not made up of those of the ranks in an expected way."""
    sequential, ranks = captured(job, **options)
    _, whole, parts = run(job, sequential, ranks)
    expected = getattr(job, "expected", {})
    return [name for name, value in whole.items() if not made_up(name, value, parts, ranks, expected.get(name, ""))]


def made_up(name: str, whole: torch.Tensor, outputs: list[Any], ranks: tuple[RankGraph, ...], expected: str) -> bool:
    """Whether a tensor is replicated or cut over the ranks that hold it, or their sum or mean where that is declared.

    A weight `up.weight` of the sequential program may be called `up_weight` or `up` on a rank.
    """
    called = [
        name,
        name.replace("grad.", "grad.module."),
        "_".join(name.rsplit(".", 1)),
        name.rpartition(".")[0],
        name.replace(".bias", "_bias"),
    ]
    found = next((k for k in called if any(k in output for output in outputs)), "")
    held = [output[found] for output in outputs if found in output]
    place = ranks[0].placed.get(found)
    if expected.startswith("partial(") or (place is not None and any(place.partial)):
        mean = "avg" in (expected or str(place))
        held = [sum(held) / (len(held) if mean else 1)]
    if not held:
        return False
    if place is not None and len(held) == len(ranks):
        return all(close(part, graph.placed[found].part(whole)) for part, graph in zip(held, ranks, strict=True))
    if all(part.shape == whole.shape for part in held):
        return all(close(part, whole) for part in held)
    return any(cut_along(dim, whole, held) for dim in range(whole.dim()))


def cut_along(dim: int, whole: torch.Tensor, held: list[torch.Tensor]) -> bool:
    """Whether each rank holds one of the even pieces along a dimension, and together they hold all."""
    size = held[0].shape[dim]
    if any(part.shape != (*whole.shape[:dim], size, *whole.shape[dim + 1 :]) for part in held):
        return False
    pieces = whole.split(size, dim)
    places = [[k for k, piece in enumerate(pieces) if close(part, piece)] for part in held]
    return all(places) and {k for found in places for k in found} == set(range(len(pieces)))


def close(part: torch.Tensor, whole: torch.Tensor) -> bool:
    return part.shape == whole.shape and bool((part - whole).abs().max() <= TOLERANCE)
