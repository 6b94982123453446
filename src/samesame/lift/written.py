"""Which memories have been written to before each launch.

What the caller says of an input, and what a launch takes its elements to lie in, holds of the tensor as it was given:
once a step may have written to its memory, the name says nothing any more. A launch may have written to all that it
was passed where it could not be lifted as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from samesame.kernels.front import passed_of, written_by
from samesame.kernels.verdict import KernelVerdict

Lifted = Mapping[int, Sequence[KernelVerdict]]  # by the number of a launch, in each of its configurations


def launches_with_written(captured: Any, lifted: Lifted) -> Iterator[tuple[Any, frozenset[int]]]:
    """The steps that launch kernels, each with the memories that have been written to before, in whichever
    configuration. What follows a step is asked for only when the next one is, so the last need not be lifted."""
    written = frozenset[int]()
    for step in captured.steps:
        variants = getattr(step, "variants", ())
        if not variants:
            written |= written_by(step)
            continue
        written |= {memory for launch in variants for one in launch.before for memory in written_by(one)}
        yield step, written
        for launch in variants:
            written |= stored_by(launch, captured, lifted.get(launch.call, ()))


def written_before(recorded: Any, captured: Any, lifted: Lifted) -> frozenset[int]:
    """The memories that have been written to before a launch."""
    return next(written for step, written in launches_with_written(captured, lifted) if recorded in step.variants)


def stored_by(recorded: Any, captured: Any, kernels: Sequence[KernelVerdict]) -> set[int]:
    """The memories that a launch may write to."""
    stored = {formula.tensor for kernel in kernels for formula in kernel.formulas}
    unread = not kernels or any(kernel.unsupported or not kernel.formulas for kernel in kernels)
    return {one.view.memory for one in passed_of(recorded, captured).values() if unread or one.name in stored}


def as_given(captured: Any, lifted: Lifted) -> Iterator[tuple[Any, set[str]]]:
    """Each launch, in its first configuration, with those of its tensors that are inputs as they were given: what it
    needs of others says nothing of inputs, even if these have their names."""
    given = dict(captured.inputs)
    for step, written in launches_with_written(captured, lifted):
        passed = passed_of(step.variants[0], captured).values()
        names = {one.name for one in passed if given.get(one.name) == one.view and one.view.memory not in written}
        yield step.variants[0], names
