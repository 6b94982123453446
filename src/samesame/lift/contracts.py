"""A user's contracts on what tensors hold, looked up in the example before anything is proved.

A contract that the example breaks says nothing of it, and what is proved under it would not be about this launch: so it
is refused, with an element that breaks it. One that nobody can look up is refused, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from samesame.evidence import Refused
from samesame.formula.sizes import value_at
from samesame.kernels.front import passed_of, stated_of
from samesame.kernels.stated import Above, Ascending, Distinct, Elements, Stated
from samesame.lift.example import Example


def check_contracts(captured: Any, example: Example) -> None:
    """Raise Refused for a contract on a tensor that no kernel takes, that has two such, or that the example breaks."""
    claims = [claim for claim in captured.contracts if isinstance(claim, Stated)]
    used: set[Any] = set()
    for recorded in captured.launches if claims else ():
        values = example.values(recorded)
        passed = passed_of(recorded, captured)
        for name, stated in stated_of(captured, passed).items():
            for kind in (Elements, Distinct, Ascending, Above):
                alike = [claim for claim in stated if isinstance(claim, kind)]
                if len(alike) > 1:
                    both = " and ".join(repr(claim.text) for claim in alike[:2])
                    raise Refused(f"the contracts {both} are about one tensor; make them one, like 0 <= {name} < n")
            view = next(one.view for one in passed.values() if one.name == name)
            for claim in stated:
                used.add(claim)
                check(claim, name, view, values, captured.sizes)
    for claim in claims:
        if claim not in used and not (isinstance(claim, Elements) and claim.read):
            raise Refused(
                f"the contract {claim.text!r} is about a tensor that is given to no kernel, or of which only some "
                "elements are"
            )


def check(claim: Stated, name: str, view: Any, values: Any, sizes: Any) -> None:
    """Raise Refused if the example's tensor breaks the contract."""
    try:
        row = values(name)
    except Refused as refused:
        raise Refused(f"the contract {claim.text!r} cannot be checked: {refused}") from None
    broken = claim.broken(row, sizes)
    if broken.size:
        shape = [value_at(n, sizes) for n in view.shape]
        place = [int(n) for n in np.unravel_index(int(broken[0]), shape)]
        raise Refused(f"the contract {claim.text!r} does not hold in the example: {name}{place} = {row[broken[0]]}")
