"""Normal forms for people: as the prover writes them, with letters for indices and without digests.

    x2[i] + Σ[s≥0, -s+5≥0]x0[j,s]·x1[i,s]          a sum over s, for which these conditions hold
"""

from __future__ import annotations

import re

from samesame.formula.effort import Budget, spending
from samesame.formula.equal import deep_recursion, lettered
from samesame.formula.expr import Index, Unsupported, numeric
from samesame.formula.expr import index as new_index
from samesame.formula.laws import LAWS
from samesame.formula.normal import normal
from samesame.formula.rewrite import BinderEscape
from samesame.formula.tensor import Tensor

LONGEST = 3000                      # letters that are shown
BOUND = "stuvwxyz"                  # letters of what is summed over
DIGEST = re.compile("…[0-9a-f]{32}")
ROOT = re.compile(r"(√\d+)\^(-?)1/2")


def normal_forms(left: Tensor, right: Tensor, budget: Budget) -> tuple[str, ...]:
    """Of both sides, or the one that they share; none where they cannot be written within the budget."""
    indices = tuple(new_index(size) for size in left.shape)
    with spending(budget, LAWS), deep_recursion():
        try:
            forms = [normal(numeric(side[indices])) for side in (left, right)]
        except (Unsupported, RecursionError, BinderEscape):
            return ()
        shown = dict.fromkeys(forms)
        return tuple(legible(form.key, frozenset(indices)) for form in shown)


def legible(key: str, free: frozenset[Index]) -> str:
    """The key of a form in letters; cut off where it is long."""
    bound = {name: BOUND[k % len(BOUND)] + str(k // len(BOUND) or "")
             for k, name in enumerate(dict.fromkeys(re.findall(r"%\d+\.\d+", key)))}
    text = lettered(re.sub(r"%\d+\.\d+", lambda name: bound[name[0]], key), free)
    text = ROOT.sub(lambda root: f"{root[1]}^-1" if root[2] else root[1], DIGEST.sub("…", text))
    text = re.sub(r"Σ\d+\[", "Σ[", text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
