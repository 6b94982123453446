"""Verdicts on the launch functions of a file of kernels, each worked out once, and the same beside the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift import KernelVerdict, LiftVerdict, lift
from samesame.lift.numerics import error_of


@dataclass
class Lifted:
    """The functions `launch_…` of a file, by what follows; each launches one kernel."""

    file: Path
    seen: dict[str, LiftVerdict] = field(default_factory=dict)

    def target(self, name: str) -> str:
        return f"{self.file}:launch_{name}"

    def kernel(self, name: str) -> KernelVerdict:
        if name not in self.seen:
            self.seen[name] = lift(self.target(name))
        (one,) = self.seen[name].kernels
        return one

    def texts(self, name: str) -> list[str]:
        return [formula.text for formula in self.kernel(name).formulas]

    def states(self, name: str) -> dict[str, str]:
        return {o.name: o.state for o in self.kernel(name).obligations}

    def open(self, name: str) -> list[tuple[str, str, str]]:
        """What is not proved."""
        return [(o.name, o.state, o.detail) for o in self.kernel(name).obligations if o.state != "proved"]

    def error(self, name: str, sizes: Mapping[str, int] | None = None) -> float:
        """The largest error of a formula beside what the interpreter stores, at the example's sizes or others."""
        captured = capture_launches(self.target(name))
        all_sizes = {**captured.sizes, **(sizes or {})}
        run = interpret(self.target(name), sizes=all_sizes, example=captured.sizes)
        passed = passed_of(captured.launches[0], captured)
        formulas = self.kernel(name).formulas
        assert formulas, self.kernel(name).unsupported
        return max(error_of(formula, passed, run.executions[0], all_sizes) for formula in formulas)
