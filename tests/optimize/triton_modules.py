"""Programs printed as Triton with small tiles, and what their kernels should hold: for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tests.optimize.programs_as_forms import EPSILON, K, M, N, tensor

from samesame.formula.tensor import Tensor
from samesame.optimize.emit.triton import Module, module
from samesame.optimize.forms import fn, fold, load, minus, number, plus, power, times
from samesame.optimize.ir import Buffer, Program, bound
from samesame.optimize.lifted import Lifted, lifted
from samesame.optimize.partition import stages
from samesame.optimize.schedule import Scheduled, Space, alternatives
from samesame.optimize.specification import Output, Specification


def of_rows(name: str, y: object, *weights: str) -> Specification:
    tensors = {"x": tensor("x", M, K, role="input"), **{w: tensor(w, K) for w in weights}}
    return Specification(name, tensors, dict(m=M, k=K), (Output("y", y, (("m",), ("k",)), "float32"),))  # type: ignore[arg-type]


def elementwise() -> Specification:
    x, g = load("x", "m", "k"), load("g", "k")
    return of_rows("elementwise", plus(times(x, fn("sigmoid", x)), times(g, x, x)), "g")


def softmax() -> Specification:
    x = load("x", "m", "k")
    p = fn("exp", minus(x, fold("max", "k", x)))
    return of_rows("softmax", times(p, power(fold("sum", "k", p), -1)))


def layer_norm() -> Specification:
    x, g = load("x", "m", "k"), load("g", "k")
    low = minus(x, times(number(1, (("k", -1),)), fold("sum", "k", x)))
    variance = times(number(1, (("k", -1),)), fold("sum", "k", times(low, low)))
    return of_rows("layer norm", times(low, power(plus(variance, number(EPSILON)), Fraction(-1, 2)), g), "g")


def of_a_vector() -> Specification:
    """A contraction without rows: no product of matrices."""
    y = fold("sum", "k", times(load("x", "k"), load("w", "n", "k")))
    tensors = {"x": tensor("x", K, role="input"), "w": tensor("w", N, K)}
    return Specification("of a vector", tensors, dict(n=N, k=K), (Output("y", y, (("n",),), "float32"),))


def elu_of_a_product() -> Specification:
    y = fn("elu", fold("sum", "k", times(load("x", "m", "k"), load("w", "n", "k"))))
    tensors = {"x": tensor("x", M, K, role="input"), "w": tensor("w", N, K)}
    return Specification("elu", tensors, dict(m=M, n=N, k=K), (Output("y", y, (("m",), ("n",)), "float32"),))


def elu() -> Specification:
    """A choice by what is chosen."""
    return of_rows("elu", plus(fn("elu", load("x", "m", "k")), load("g", "k")), "g")


@dataclass
class Printed:
    """A module, what is needed to lift it back, and its loop nests with numbers for tiles."""

    module: Module
    program: Program
    inputs: list[Buffer]
    outputs: list[str]
    holds: Mapping[str, Tensor]
    sizes: Mapping[str, int]

    def lifted(self, file: Path, text: str = "") -> list[Lifted]:
        file.write_text(text or self.module.text)
        return lifted(file, self.module, self.inputs, self.outputs, self.holds, self.sizes)


def printed(
    program: Callable[[], Specification], choose: Callable[[list[Scheduled]], Scheduled] = lambda several: several[-1]
) -> Printed:
    specification = program()
    space = Space(specification, stages(specification.outputs, specification.extents))
    chosen = [choose(several) for several in alternatives(space, gpu=True)]
    numbers = {tile.size.name: number for each in chosen for tile in each.program.tiles
               for number in [small(tile.role, [other.role for other in each.program.tiles])]}
    kernels: Program = bound(Program(sum((each.program.kernels for each in chosen), ())), numbers)
    holds = {name: whole for each in chosen for name, whole in each.formulas(space).items()}
    inputs, outputs = list(specification.tensors), [output.name for output in specification.outputs]
    made = module(kernels, inputs, outputs, {}, "kernels")
    return Printed(made, kernels, [space.buffers[name] for name in inputs], outputs, holds, space.numbers())


def small(role: str, others: Sequence[str]) -> int:
    """A number for a tile; what `tl.dot` takes where there is a contraction."""
    return {"rows": 16 if "blocks" in others else 2, "blocks": 32}.get(role, 16)
