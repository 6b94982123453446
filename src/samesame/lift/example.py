"""The launch function on its own tensors: what each launch finds in memory, where a condition on data has to be met.

A kernel that is right where 0 ≤ labels[…] < V is right for this launch only if its labels are. So the function is run
once in Triton's interpreter, when something first asks for it, and each launch's tensors are looked at as they are just
before it. What cannot be run is said; nothing is taken to hold because it could not be looked at.

A number that a launch has and that is as large as a size (BLOCK = 64 for rows of 64) may be that size, written down: at
others the launch is none that anybody means. Or the host code has chosen it by the size, and says so where it is asked
for twice as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Size, Unsupported
from samesame.formula.sizes import value_at
from samesame.kernels.front import launch_of, passed_of
from samesame.lift.numerics import plain, seen
from samesame.programs.alone import on_behalf

SECONDS = 30.0  # for the run
SOON = 2.0  # for one at other sizes, of which only the numbers are looked at that launches get
SMALL = 3  # a size that makes runs short


def run_at(target: Any, inputs: Any, captured: Any, sizes: Mapping[str, int], **how: Any) -> Any:
    """The launch function, run at other sizes than the example's. Raises Refused, also where its tensors do not come
    out at these sizes, as it tells them in a way that cannot be followed, or break a user's contract there."""
    from samesame.kernels.host.interpret import interpret

    whole = {**captured.sizes, **captured.with_tied(sizes)}
    run = interpret(target, inputs, sizes=whole, example=captured.sizes, literal=captured.literal, **how)
    for name, view in captured.inputs:
        made = run.inputs.get(name)
        wanted = [value_at(n, whole) for n in view.shape]
        if made is not None and list(made.shape) != wanted:
            raise Refused(f"at these sizes {name} would have the shape {wanted}, and is made with {list(made.shape)}")
    for claim in captured.contracts:
        if not isinstance(claim, Expr):
            made = run.inputs.get(captured.memories[claim.tensor.memory].name)
            if made is None or claim.broken(plain(made.flatten()), whole).size:
                raise Refused(f"at these sizes the tensors are not shown to keep the contract {claim.text!r}")
    return replace(run, sizes=whole)


def left_as_they_are(recorded: Any, run: Any) -> Iterator[int]:
    """The whole numbers of a recorded launch that it has in a run at other sizes, too."""
    there = run.executions[recorded.call]
    same = there.kernel == recorded.kernel
    numbers = {**recorded.arguments, **recorded.constexprs}
    pairs = [(n, there.scalars.get(name) if same else n) for name, n in numbers.items()]
    pairs += zip(recorded.grid, there.grid if same else recorded.grid, strict=True)
    yield from (n for n, other in pairs if type(n) is int and n == other)


class Example:
    """One run of a captured launch function, made when it is asked for."""

    def __init__(self, target: Any, inputs: Any, captured: Any) -> None:
        self.target, self.inputs, self.captured = target, inputs, captured

    @cached_property
    def run(self) -> Any:
        """The run; a sentence where there is none. It has a thread, and so time, of its own."""
        from samesame.kernels.host.interpret import interpret

        try:
            with ThreadPoolExecutor(1) as apart:
                return apart.submit(on_behalf(interpret), self.target, self.inputs, timeout=SECONDS).result()
        except Refused as refused:
            return str(refused)

    @cached_property
    def written(self) -> Mapping[str, int]:
        """The sizes that are known to be as in the example alone where the host code launches like this: those that a
        launch has as numbers, and beside these what is no parameter; all of them, where the host asks something of
        sizes that no condition says."""
        captured, sizes = self.captured, dict(self.captured.sizes)
        if captured.unread or not all(chosen.startswith("next_power_of_2(") for chosen in captured.choices):
            return sizes
        varying = {n.name for n in captured.parameters.values() if isinstance(n, Size)} - self.certain.keys()
        return {name: n for name, n in sizes.items() if self.certain and name not in varying}

    @cached_property
    def certain(self) -> Mapping[str, int]:
        """The sizes that launches have as numbers, but for those by which the host code chooses the number."""
        try:
            launches = [(recorded, launch_of(recorded, self.captured)) for recorded in self.captured.launches]
        except Refused:
            return dict(self.captured.sizes)  # of arguments that no kernel takes
        found = {name: n for _, launch in launches for name, n in launch.written_down.items()}
        if not found or not self.captured.choices:
            return found
        run = self.at_twice(found)
        if run is None or [recorded.call for recorded, _ in launches] != [*range(len(run.executions))]:
            return found  # or a launch has several configurations, each with numbers of its own
        kept = (replace(launch, constants=tuple(left_as_they_are(one, run))) for one, launch in launches)
        return {name: n for launch in kept for name, n in launch.written_down.items()}

    def at_twice(self, some: Mapping[str, int]) -> Any:
        """A run where some sizes are above twice as long, or just that, and the others short, or as in the example;
        None where there is none, or it takes long."""
        short = dict.fromkeys(self.captured.sizes, SMALL)
        for others, more in product((short, {}), (1, 0)):
            sizes = {**others, **{name: 2 * n + more for name, n in some.items()}}
            with suppress(Refused, Unsupported):
                return run_at(self.target, self.inputs, self.captured, sizes, timeout=SOON)
        return None

    def input(self, name: str) -> Any:
        """What an example tensor holds before the first launch; None where it cannot be run."""
        return None if isinstance(self.run, str) else self.run.named.get(name)

    def values(self, recorded: Any) -> Callable[[str], np.ndarray]:
        """Of a recorded launch: the elements from a tensor's first one to its last as they are before it, as one row,
        by the tensor's name. Raises Refused where they cannot be had."""
        passed = passed_of(recorded, self.captured)
        parameters = {one.name: parameter for parameter, one in passed.items()}

        @cache
        def line(name: str) -> np.ndarray:
            if isinstance(self.run, str):
                raise Refused(f"the example cannot be run: {self.run}")
            found = self.run.executions[recorded.call : recorded.call + 1]
            if not found or found[0].kernel != recorded.kernel:
                raise Refused(f"{recorded.called.spoken} is not reached where the example is run")
            if name not in parameters:
                raise Refused(f"{recorded.called.spoken} is not given {name}")
            view = passed[parameters[name]].view
            shape, strides = ([value_at(n, self.captured.sizes) for n in dims] for dims in (view.shape, view.strides))
            if any(stride < 0 for stride in strides):
                raise Refused(f"{name} runs backwards")
            row, _ = seen(found[0].before[parameters[name]], view, self.captured.sizes)
            return row[: 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))]

        return line
