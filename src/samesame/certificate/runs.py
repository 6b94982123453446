"""What torch's operators compute on a proof's block, in float64: one side against the other, and against the formulas.

A proof says that two formulas are equal; that they are what the block's operators compute is seen by running these, on
the very numbers that the second prover drew. The two sides are compared on draws of our own as well: normal values of
three scales, and values near the numbers that the block mentions, where an operator may change its mind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from samesame import evaluator
from samesame.certificate.forms import WIDE, call_of, kind_of, number_at, numbers, require

DRAWS = ("generic", "positive", "ties")                 # of the second prover
OWN = ("1", "30", "0.001", *["near"] * 4)
TOLERANCE, HUGE = 1e-6, 1e30                            # relative to 1 + the value; what is larger is not compared


class Runs:
    """The block of a proof at small sizes. `constants` are those that the certificate holds, by digest."""

    def __init__(self, name: str, proof: dict[str, Any], constants: Mapping[str, torch.Tensor]) -> None:
        self.name, self.block, self.claim = name, proof["block"], proof["claim"]
        self.constants, self.conditions, self.used = constants, proof["conditions"], 0
        self.near = sorted({s * (c + d) for c in {0, *numbers(self.block)} if abs(c) < 1e6
                            for d in (-0.25, 0.25) for s in (-1, 1)})

    def check(self, sizes: dict[str, int], grid: evaluator.Grid | None) -> None:
        """Both comparisons at these sizes; the first only where the second prover worked the formulas out."""
        rng, program = np.random.default_rng(0), self.program(sizes)
        for draw in range(len(grid.draws)) if grid else ():
            for side, tensor in zip(("left", "right"), self.outcome(program, draw, grid, rng), strict=True):
                self.against(side, tensor, draw, grid)
        for how in OWN:
            self.alike(*self.outcome(program, how, grid, rng))

    def alike(self, left: torch.Tensor, right: torch.Tensor) -> None:
        """Where conditions exclude something, half of the elements may differ."""
        require(left.shape == right.shape, f"the sides of proof {self.name} have different shapes")
        finite = left.isfinite() & right.isfinite() & (left.abs() < HUGE) & (right.abs() < HUGE)
        scale = torch.where(finite, left.abs().maximum(right.abs()), 0).max() if left.numel() else 0
        apart = (finite & ((left - right).abs() > TOLERANCE * (1 + scale))).sum()
        require(2 * apart <= finite.sum() if self.conditions else apart == 0,
                f"torch's operators compute different sides of proof {self.name}")

    def against(self, side: str, tensor: torch.Tensor, draw: int, grid: Any) -> None:
        """A side against its formula. Where the formula says nothing torch has no number either, unless the proof has
        conditions or the draw is of ties, which may be too near to 0 to tell."""
        axes = tuple(self.claim["indices"])
        extents = [grid.value(self.claim["nodes"][v][2])[1].item() for v in axes]
        require(list(tensor.shape) == extents, f"the {side} formula of {self.name} has another shape")
        formula = grid.spread(grid.number(self.claim[side], True), axes)
        said = np.asarray([_float(x, grid.one) for x in formula[min(draw, len(formula) - 1)].flat]
                          if axes else [_float(formula[min(draw, len(formula) - 1)], grid.one)])
        mine = tensor.numpy()[np.ix_(*(grid.positions[v] for v in axes))].ravel() if axes else tensor.numpy().ravel()
        with np.errstate(all="ignore"):
            near = (mine == said) | (abs(mine - said) <= TOLERANCE * (1 + abs(mine)))
            beyond = mine * np.sign(said) > HUGE
        excused = grid.draws[draw] == "ties" or bool(self.conditions)
        near = np.where(np.isinf(said), beyond, near)
        near = np.where(np.isnan(said), excused | ~np.isfinite(mine), near)
        require(near.all(), f"the {side} formula of proof {self.name} is not what torch's operators compute")

    def drawn(self, node: dict[str, Any], said: tuple[list[int], str], how: int | str, grid: Any, rng: Any) -> Any:
        """Elements of an input: a draw of the second prover's, by its number, or one of our own."""
        (shape, kind), places = said, [row[0] for row in self.claim["leaves"]] if grid else []
        shape = [*shape, 2] if kind == "complex" else shape
        leaf = grid.leaf(places.index(node["name"])) if node["name"] in places else None
        if kind in ("real", "complex"):
            if leaf is not None and isinstance(how, int):
                return np.asarray(leaf[how] / grid.one, dtype=float)
            if how == "near":
                self.used += math.prod(shape)
                return rng.permutation(np.resize(np.roll(self.near, self.used), math.prod(shape))).reshape(shape)
            return rng.standard_normal(shape) * (1 if isinstance(how, int) else float(how))
        if leaf is not None and (kind == "int" or isinstance(how, int)):
            return np.asarray(leaf[how if isinstance(how, int) else 0], dtype=np.int64)
        return (rng.random(shape) < 0.8 if kind == "bool" else rng.integers(0, 2, shape)).astype(np.int64)

    def program(self, sizes: dict[str, int]) -> list[Any]:
        """Each node with the types that the block says it has, and what computes it from the values before it."""
        steps = []
        for node in self.block["nodes"]:
            types = node["type"]["several"] if isinstance(node["type"], dict) else [node["type"]]
            said = [([number_at(n, sizes) for n in shape], kind_of(dtype)) for dtype, shape in types]
            made = node["operator"] in ("input", "constant")
            steps.append((node, said, None if made else call_of(node, sizes, lambda dtype: WIDE.get(dtype, dtype))))
        return steps

    def outcome(self, program: list[Any], how: int | str, grid: Any, rng: Any) -> list[torch.Tensor]:
        """Both sides in float64, complex numbers as pairs. Each tensor has the shape and kind that the block says."""
        values: dict[str, Any] = {}
        for node, said, call in program:
            name = node["name"]
            dtype: Any = None if call else getattr(torch, node["type"][0])
            if call is not None:
                value = call(values)
            elif node["operator"] == "constant":
                value = self.constants[self.block["constants"][name]].to(dtype)
            else:
                value = torch.from_numpy(np.asarray(self.drawn(node, said[0], how, grid, rng)))
                value = torch.view_as_complex(value) if dtype.is_complex else value.to(WIDE.get(dtype, dtype))
            several = value if isinstance(node["type"], dict) else [value]
            require([(list(part.shape), kind_of(part.dtype)) for part in several] == said,
                    f"{name} of proof {self.name} is not of the type that the proof says")
            values[name] = value
        sides = (values[self.block[side]] for side in ("left", "right"))
        return [(torch.view_as_real(x) if x.is_complex() else x).double() for x in sides]


def _float(x: Any, one: int) -> float:
    """A number of the second prover's: NaN where it has none."""
    if x is evaluator.UNDEFINED or isinstance(x, evaluator.Infinity):
        return math.nan if x is evaluator.UNDEFINED else x.sign * math.inf
    try:
        return float(x / one)
    except OverflowError:
        return math.copysign(math.inf, x)
