"""Loops whose closed form is wrong in one place, for the proof by induction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np
from changes import one_change
from claims_loops import LoopClaim
from false_claims import APART, DRAWS, SECONDS, FalseClaim, Numbers, inputs, some_sizes
from formula_mutations import as_tensor
from loop_induction import State, prove_loop
from true_claims import Sides

from samesame.formula.effort import Budget
from samesame.formula.equal import Proved
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Expr, Size, Unsupported, const, index, substitute
from samesame.formula.tensor import Tensor


@dataclass(frozen=True)
class FalseLoop(FalseClaim):
    """A loop and what is said to be its closed form after t iterations: part `part` of the state is wrong."""

    claim: LoopClaim | None = None
    part: int = 0

    def accepted(self, seconds: float = SECONDS) -> list[str]:
        assert self.claim is not None
        loop, closed, _ = self.claim._loop(True)
        t, *indices = self.sides.indices

        def wrong(time: Expr) -> State:
            state = list(closed(time))
            shape = state[self.part].shape
            state[self.part] = as_tensor(shape, indices, substitute(self.sides.right, {t: const(time)}))
            return tuple(state)

        try:
            answer = prove_loop(loop, wrong, first=self.claim.first, budget=Budget(seconds=seconds))
        except Unsupported:
            return []
        return [f"by induction: {answer}"] if isinstance(answer, Proved) else []


def wrong_loop(claim: LoopClaim, random: Random) -> FalseLoop | None:
    """The claim with a closed form that is wrong in one place, if one is found that is false."""
    loop, closed, _ = claim._loop(True)
    t = index(loop.count)
    state = closed(t)
    part = random.randrange(len(state))
    indices, expr = state[part].element()
    mutant = one_change(expr, random)
    if mutant is None:
        return None
    kind, changed = mutant
    sides = Sides(state[part].shape, (t, *indices), expr, changed)
    symbols = frozenset(Size(name, max(2, size.minimum)) for name, size in claim.symbols().items())
    apart = [(sizes, sum(differs(claim, sides, part, sizes, draw, random) for draw in range(DRAWS)))
             for sizes in some_sizes(symbols, random)]
    found = tuple(sizes for sizes, draws in apart if draws)
    if not found:
        return None
    everywhere = sum(draws >= 2 for _, draws in apart) >= 2
    return FalseLoop(claim.name, "claims: loops and scans", kind, sides, found, everywhere, claim, part)


def differs(claim: LoopClaim, sides: Sides, part: int, sizes: Numbers, draw: int, random: Random) -> bool:
    """Whether the loop, run, differs from the closed form after its last iteration."""
    count = claim._loop(True)[0].count
    loop, *_ = replace(claim, sizes=dict(sizes))._loop(False)
    ran: Tensor = loop.after(loop.count)[part]
    t, *indices = sides.indices
    said = as_tensor(ran.shape, indices, substitute(sides.right, {t: const(count)}))
    try:
        own = Sides(ran.shape, tuple(indices), *(ran[tuple(indices)], said.element()[1]))
        values = inputs(own, sizes, draw, random.randrange(1 << 30))
        with np.errstate(all="ignore"):
            a, b = np.asarray(evaluate(ran, values, sizes), float), np.asarray(evaluate(said, values, sizes), float)
    except Unsupported:
        return False
    both = np.isfinite(a) & np.isfinite(b)
    return bool((np.abs(a[both] - b[both]) > APART * (1 + np.abs(a[both]))).any())
