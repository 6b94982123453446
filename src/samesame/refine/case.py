"""--case: graphs that another tool captured, with the relation that it states of them.

Their sizes are those of real models, far too large to run. So both sides run at small sizes, one of its own for each
role that a size plays, and what is proved there is then to be proved over symbols in place of sizes.
"""

from __future__ import annotations

from samesame.budget import Run
from samesame.evidence import Refinement
from samesame.refine.verb import refine_graphs
from samesame.relate.case import load_case
from samesame.store import Store


def refine_case(
    path: str, *, seed: int = 0, timeout: float | None = None, run: Run | None = None, store: Store | None = None
) -> Refinement:
    """Decide whether the ranks of a case refine its sequential graph. Raises Refused for a file that is not what the
    case format says, naming what is wrong."""
    case = load_case(path)
    sides = case.shrunk(seed)
    verdict = refine_graphs(
        sides.sequential, sides.ranks, layouts=sides.layouts, seed=seed, timeout=timeout, run=run, store=store
    )
    verdict.notes += [*case.assumptions, *case.guessed]
    return verdict
