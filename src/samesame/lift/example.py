"""The launch function on its own tensors: what each launch finds in memory, where a condition on data has to be met.

A kernel that is right where 0 ≤ labels[…] < V is right for this launch only if its labels are. So the function is run
once in Triton's interpreter, when something first asks for it, and each launch's tensors are looked at as they are just
before it. What cannot be run is said; nothing is taken to hold because it could not be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from samesame.evidence import Refused
from samesame.formula.expr import Expr
from samesame.formula.sizes import value_at
from samesame.kernels.front import passed_of
from samesame.lift.numerics import plain, seen
from samesame.programs.alone import on_behalf

SECONDS = 30.0  # for the run


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
