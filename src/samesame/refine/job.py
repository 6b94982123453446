"""A job: a sequential program and what each rank runs, as a Python file says it.

A job file defines `sequential()` and `distributed(rank, world_size)`, each of which makes a module or a function over
tensors, and `inputs()`, the sequential program's example. It may say more: `plan`, a parallel plan of torch's that is
applied to `sequential()` where there is no `distributed`; `mesh`, the axes of the ranks by name; `relations` and
`expected`, placements of inputs and weights and of outputs by name; `backward`, whether gradients are outputs too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module

from samesame.capture.ranks.graphs import RankGraph
from samesame.capture.ranks.group import one_of
from samesame.capture.ranks.record import capture_ranks, capture_sequential
from samesame.capture.ranks.waiting import Unawaited
from samesame.evidence import Refused
from samesame.programs.named import asks_for, called, module_of_file, shown
from samesame.programs.outputs import kind_of_value
from samesame.refine.placement import Mesh, parsed, piece
from samesame.refine.telling import Telling
from samesame.relate.layout import values

NEEDED = ("sequential", "inputs")
Captured = tuple[RankGraph, tuple[RankGraph, ...]]


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be captured: the two programs, the inputs of the sequential one or of each rank, and the ranks. What
    there is of the inputs to `change`, by name, is done before either program takes them. To capture `again` is to do
    so on other values as well, on which the programs must do the same."""

    sequential: Any
    distributed: Callable[..., Any]
    inputs: Any
    world_size: int
    mesh: Mesh | None
    relations: Mapping[str, str]
    change: Callable[[str, Any], Any] | None = None
    again: bool = True

    @property
    def axes(self) -> Mesh:
        """The axes of the ranks; of one there is no need to name it."""
        return self.mesh or {"ranks": self.world_size}

    def example(self) -> Any:
        """The sequential program's inputs: of `inputs(rank, world_size)` those of a world of one."""
        given = self.inputs
        if callable(self.inputs):
            of_ranks = _counts_ranks(self.inputs) and asks_for(self.inputs)
            given = called(partial(self.inputs, 0, 1) if of_ranks else self.inputs, "inputs", seed=1)
        return (given,) if isinstance(given, torch.Tensor) else given

    def captured(self, backward: bool, fits: Callable[[Captured], bool]) -> tuple[Captured, Telling]:
        """The sequential graph and that of each rank, with weights that tell where the job lets them be told; whether
        it does, `fits` says: are the ranks' weights pieces of the sequential ones?"""
        for kinds in (("parameter", "constant"), ("parameter",)):
            telling = Telling(kinds, self.world_size)
            try:
                found = self.made(telling, backward)
            except Unawaited:
                raise
            except Refused:
                continue                                   # for its own weights it is refused for what it is
            if not telling.named or (telling.reached(found[1]) and fits(found)):
                return found, telling
        telling = Telling((), self.world_size)
        return self.made(telling, backward), telling

    def made(self, telling: Telling, backward: bool) -> Captured:
        """The graphs with such weights."""
        example = self.example()
        with telling.made(self.sequential, self.distributed) as program:
            with one_of(0, 1):                             # a library may want a group to be alone in
                if not isinstance(program, nn.Module) and callable(program) and not asks_for(program):
                    program = called(program, "sequential")
                else:
                    telling.tell_all(program)
                if self.change is not None:
                    example = _each(program, example, self.change)
                left = capture_sequential(program, example, backward=backward, again=self.again)
                if not left.roots:
                    raise Refused("the sequential program returns no tensor and writes into none, so there is nothing "
                                  "to compare")
            own = self.of_rank(program, example)
            with telling.of_class(program):
                ranks = capture_ranks(self.of_mesh(), own, self.world_size, mesh=self.mesh, backward=backward,
                                      again=self.again)
            return left, ranks

    def of_mesh(self) -> Callable[..., Any]:
        """What makes a rank's program, given a mesh wherever there is one; placements may name the axes of one that
        the program has no use for."""
        distributed = self.distributed
        if self.mesh is None or _takes(distributed, 3):
            return distributed
        return wraps(distributed)(lambda rank, world_size, mesh: distributed(rank, world_size))

    def of_rank(self, program: Any, example: Any) -> Callable[[int, int], Any]:
        """The inputs of a rank: what `inputs(rank, world_size)` gives, or its pieces of the sequential ones."""
        if callable(self.inputs) and _counts_ranks(self.inputs):
            own: Callable[[int, int], Any] = self.inputs
            return own

        def cut(name: str, value: Any, rank: int) -> Any:
            if name not in self.relations or not isinstance(value, torch.Tensor):
                return value
            layout, _ = piece(name, tuple(value.shape), parsed(self.relations[name], name, self.axes), rank, self.axes)
            return values(layout, lambda _: value).contiguous()

        def make(rank: int, world_size: int) -> Any:
            return _each(program, example, lambda name, value: cut(name, value, rank))

        return make


def _counts_ranks(function: Any) -> bool:
    return len(inspect.signature(function).parameters) >= 2


def _takes(function: Any, count: int) -> bool:
    """Whether it can be called with so many arguments; of what cannot be asked that is taken for granted."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _each(program: Any, example: Any, change: Callable[[str, Any], Any]) -> Any:
    """An example with a change to each input, by the name that the program gives it."""
    if isinstance(example, Mapping):
        return {name: change(name, value) for name, value in example.items()}
    names = _parameters(program, example)
    return tuple(change(name, value) for name, value in zip(names, example, strict=True))


def _parameters(program: Any, example: Any) -> list[str]:
    """The names that a program gives its arguments; their positions where it does not say."""
    function = program.forward if isinstance(program, nn.Module) else program
    names = [] if inspect.isbuiltin(function) else list(inspect.signature(function).parameters)
    return [names[k] if k < len(names) else str(k) for k in range(len(example))]


def ranks_of(mesh: Any) -> int:
    """How many ranks a mesh has. Raises Refused for what is none."""
    if not isinstance(mesh, Mapping) or not mesh or not all(type(n) is int and n > 0 for n in mesh.values()):
        raise Refused(f'the mesh is {mesh!r}; write how long each of its axes is, such as {{"dp": 2, "tp": 2}}')
    return prod(mesh.values())


def load_job(path: str) -> dict[str, Any]:
    """What a job file says, as arguments of `refine`; raises Refused where something is missing."""
    module = module_of_file(Path(path))
    found = {name: getattr(module, name, None) for name in (*NEEDED, "distributed", "plan")}
    for name in NEEDED:
        if found[name] is None:
            raise Refused(f"{shown(Path(path))} defines no {name}; a job defines sequential, distributed and inputs")
    if found["distributed"] is None and found["plan"] is None:
        raise Refused(f"{shown(Path(path))} defines neither distributed(rank, world_size) nor a plan")
    distributed = found["distributed"] or _planned(found["sequential"], found["plan"])
    if not callable(distributed):
        raise Refused(f"distributed is {kind_of_value(distributed)}; make it a function of rank and world_size")
    told = {name: getattr(module, name) for name in ("relations", "expected", "mesh", "backward", "world_size")
            if hasattr(module, name)}
    return {"sequential": found["sequential"], "distributed": distributed, "inputs": found["inputs"], **told}


def _planned(sequential: Any, plan: Any) -> Callable[[int, int], Any]:
    """What a rank runs under a parallel plan: `sequential()` made parallel over all ranks."""

    def distributed(rank: int, world_size: int, mesh: Any = None) -> nn.Module:
        mesh = mesh or init_device_mesh("cpu", (world_size,))
        return parallelize_module(sequential(), mesh, plan() if callable(plan) else plan)

    return distributed
