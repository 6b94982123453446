"""Native candidates: forms as kernels of our own, proved, tuned and printed.

Forms are cut into stages, each group of stages has several schedules; what is left of these after pruning is proved for
all sizes and tiles, tuned by measuring, and the fastest is taken, group by group, so that the work grows with the
number of groups and not with their combinations. That the stages, put into one another, are the forms is proved, too.
What is handed on is a file that calls the kernels, their text beside it, and the forms in torch's operators, against
which `check` proves the original.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import index
from samesame.optimize.compiled import describe
from samesame.optimize.emit import cpp, torch_ops
from samesame.optimize.ir import Program, bound
from samesame.optimize.machine import here
from samesame.optimize.meaning import proved
from samesame.optimize.partition import Stage, stages, together
from samesame.optimize.pruning import pruned
from samesame.optimize.schedule import NoSchedule, Scheduled, Space, alternatives
from samesame.optimize.specification import Output, Specification

COMPOSITION = Budget(seconds=8.0)


@dataclass(frozen=True)
class Tuned:
    """Numbers for the symbols of a program, and the seconds that one run took with them."""

    numbers: Mapping[str, int]
    seconds: float


Tune = Callable[[Program, Mapping[str, int]], Tuned]


@dataclass
class Native:
    """Kernels for a specification: the program with numbers in it, what it reads, and how it was found."""

    specification: Specification
    program: Program
    stages: list[Stage]
    maps: list[str]
    conditions: tuple[str, ...]
    fixed: Mapping[str, int]                          # axes that are numbers in the proof, with their extents
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def kernels(self) -> str:
        """The text of the kernels."""
        return cpp.source(self.program, here().lanes)

    def source(self) -> str:
        """A Python file that calls the kernels; its `Fast(weights)` takes the tensors among the inputs in order."""
        tensors = self.specification.tensors
        weights = [name for name, tensor in tensors.items() if tensor.role == "weight"]
        inputs = [name for name in self.specification.arguments or tensors if tensors[name].role == "input"]
        outputs = [output.name for output in self.specification.outputs]
        description = json.dumps(describe(self.program, inputs, weights, outputs))
        shapes = [self.shape(output) for output in self.specification.outputs]
        paths = [tensors[name].path or name for name in weights]
        return TEMPLATE.format(description=description, weights=paths, shapes=shapes)

    def shape(self, output: Output) -> tuple[int, ...]:
        extents = self.specification.extents
        return tuple(prod(extents[axis] for axis in dim) for dim in output.dims)


TEMPLATE = '''"""Kernels of one's own for a program; what they compute in torch's operators stands in reference.py."""

import json
from pathlib import Path

import torch

from samesame.optimize.compiled import load

DESCRIPTION = json.loads({description!r})
WEIGHTS = {weights!r}
SHAPES = {shapes!r}


class Fast(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = [weights[name] for name in WEIGHTS]
        self.kernels = load((Path(__file__).parent / "kernels.cpp").read_text(), DESCRIPTION)

    def forward(self, *tensors):
        found = self.kernels(*tensors, *self.weights)
        return tuple(tensor.view(shape) for tensor, shape in zip(found, SHAPES))
'''


def native(specification: Specification, tune: Tune) -> Native:
    """The fastest kernels for a specification's outputs. Raises NoSchedule where there are none that are proved."""
    if specification.calls:
        raise NoSchedule("a part of the program stays a call of torch")
    cut = stages(specification.outputs)
    space = Space(specification, cut)
    counts: Counter[str] = Counter()
    chosen, numbers, maps, conditions = list[Scheduled](), dict[str, int](space.numbers()), list[str](), list[str]()
    for several in alternatives(space):
        best = _fastest(several, space, tune, counts)
        chosen.append(best[0])
        numbers |= best[1].numbers
        maps.append(best[0].map)
        conditions += best[2]
    conditions += _composed(specification, space, cut)
    program = Program(sum((each.program.kernels for each in chosen), ()))
    fixed = {axis: size for axis, size in space.sizes.items() if isinstance(size, int)}
    return Native(specification, bound(program, numbers), cut, maps, tuple(dict.fromkeys(conditions)), fixed, counts)


def _fastest(
    several: list[Scheduled], space: Space, tune: Tune, counts: Counter[str]
) -> tuple[Scheduled, Tuned, Sequence[str]]:
    """The schedule that runs fastest among those that are proved."""
    counts["schedules"] += len(several)
    found: list[tuple[float, int, Scheduled, Tuned, Sequence[str]]] = []
    reason = ""
    for scheduled in pruned(several, space, counts):
        checked = proved(scheduled.program, scheduled.holds)
        if not checked.proved:
            counts["not proved"] += 1
            reason = checked.reason
            continue
        counts["proved"] += 1
        tuned = tune(scheduled.program, space.numbers())
        counts["tuned"] += 1
        found.append((tuned.seconds, len(found), scheduled, tuned, checked.conditions))
    if not found:
        raise NoSchedule(f"no schedule is proved: {reason}")
    _, _, scheduled, tuned, conditions = min(found, key=lambda each: each[:2])
    return scheduled, tuned, conditions


def _composed(specification: Specification, space: Space, cut: list[Stage]) -> Sequence[str]:
    """Conditions under which the stages, put into one another, are the forms. Raises NoSchedule where they are not."""
    conditions: list[str] = []
    for output in specification.outputs:
        stage = next(stage for stage in cut if stage.target == output.name)
        whole = together(stage, cut).whole
        if whole is output.form:
            continue
        at = {axis: index(space.size(axis)) for axis in stage.axes}
        answer = prove_equal(space.expression(whole, at), space.expression(output.form, at), budget=COMPOSITION)
        if not isinstance(answer, Proved):
            raise NoSchedule(f"the stages of {output.name} are not proved to be its form: {answer.reason}")
        conditions += answer.conditions
    return conditions


def reference(native: Native) -> str:
    """What the kernels compute, in torch's operators."""
    return torch_ops.source(native.specification, native.specification.outputs)


def of_form(specification: Specification, outputs: tuple[Output, ...], tune: Tune) -> Native:
    """Kernels for other forms of the same specification."""
    return native(replace(specification, outputs=outputs), tune)
