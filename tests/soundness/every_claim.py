"""Every false claim there is, in order and by a seed: what the test takes a share of and the long run goes through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from random import Random

from claims_loops import CLAIMS as LOOPS
from false_claims import FalseClaim, changed_once
from true_claims import sources
from wrong_laws import LAWS, PLACES, wrong_law
from wrong_loops import wrong_loop

Maker = Callable[[Random], FalseClaim | None]


@cache
def changes() -> tuple[Maker, ...]:
    """One for each true claim: a false one made of it, another each time."""
    return (*(partial(changed_once, source) for source in sources()), *(partial(wrong_loop, loop) for loop in LOOPS))


@cache
def laws() -> tuple[Maker, ...]:
    """One for each law that does not hold, in each place."""
    return tuple(partial(wrong_law, name, place) for place, name in product(PLACES, LAWS))


def made(makers: tuple[Maker, ...], seed: int, part: int, parts: int) -> Iterator[FalseClaim]:
    """The false claims of one part of the makers."""
    for number, maker in enumerate(makers):
        if number % parts == part:
            claim = maker(Random(f"{seed} {number}"))
            if claim is not None:
                yield claim
