"""Values and layouts: many operators beside one another, each on the inputs alone.

What a compiler gets wrong of a number that is not ordinary, of a stride or of a length shows in one operator; behind
another it is soon hidden, since NaN is everywhere then. So such a program is wide: two tensors of any dtype, content
and layout, and up to two dozen element-wise operators and reductions of them, which are compiled together. One of which
nothing can be said is left out, or it would silence the rest.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from samesame.fuzz.generators.operators import Composer, operators, samples
from samesame.fuzz.generators.taste import PLAIN, Taste
from samesame.fuzz.generators.values import COMPLEX, DTYPES, any_mood, any_number, any_shape, any_tensor
from samesame.fuzz.judge import says_nothing, seen
from samesame.fuzz.program import Program, Ref

NUMBER = 0.3                 # of the second arguments so many are numbers
TRIES = 3


@cache
def wide_operators() -> dict[str, str]:
    """Operators that act element by element or fold a dimension, and of which kind each is."""
    from torch.testing._internal.opinfo import core

    kinds = {core.UnaryUfuncInfo: "unary", core.BinaryUfuncInfo: "binary", core.ReductionOpInfo: "reduction"}
    found = {path: next((word for kind, word in kinds.items() if isinstance(entry, kind)), None)
             for path, entry in operators().items()}
    return {path: kind for path, kind in found.items() if kind}


def generate(dice: random.Random, taste: Taste = PLAIN) -> Program:
    """Eight to twenty-four operators beside one another."""
    made = Composer(dice, taste, any_mood(dice))
    dtype, shape = taste.pick(dice, (*DTYPES, *COMPLEX)), any_shape(dice)
    given = [made.take(any_tensor(dice, shape, dtype, made.mood)) for _ in range(2)]
    wanted = dice.choice((8, 16, 24))
    paths = [path for path in wide_operators() if path not in taste.avoid and samples(path, dtype)]
    for _ in range(TRIES * wanted if paths else 0):
        if len(made.steps) < wanted:
            _append(made, taste.pick(dice, paths), dtype, given)
    return made.program()


def _append(made: Composer, path: str, dtype: str, given: list[Ref]) -> None:
    """One more operator on the inputs, with whatever else one of its samples says."""
    dice = made.dice
    sample = dice.choice(samples(path, dtype))
    first, second = dice.sample(given, 2)
    args: tuple[Any, ...] = (first,)
    if wide_operators()[path] == "binary":
        args = first, any_number(dice, made.values[first.name]) if dice.random() < NUMBER else second
    if made.apply(path, *args, **sample.kwargs):
        step = made.steps[-1]
        alone = Program(tuple(made.inputs), (step,), step.results).lean()
        if says_nothing(alone, seen(alone)):
            made.steps.pop()
            for name in step.results:
                del made.values[name]
