"""Algebra: graphs of the operators that rewrites know, on values of one shape, so that twins have a choice."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from samesame.fuzz.generators.operators import Composer
from samesame.fuzz.generators.taste import PLAIN, Taste
from samesame.fuzz.generators.values import DTYPES, any_mood, any_number, any_shape, any_tensor
from samesame.fuzz.program import Program, Ref
from samesame.fuzz.words import WORDS_OF, Word

WIDE = 0.5                   # the share of programs whose words see inputs, and not what others have made of them
ORDINARY = 0.35              # the share of programs whose numbers are moderate, which more rules may rewrite
SIZES: dict[str, Callable[[torch.Tensor], tuple[int, ...]]] = {
    "reshape": lambda x: (x.numel(),), "flip": lambda x: (0,), "tile": lambda x: (2, 3), "pad": lambda x: (1, 2),
}  # fmt: skip


def generate(dice: random.Random, taste: Taste = PLAIN) -> Program:
    """Four to twenty-four words over two or three tensors of one dtype."""
    made = Composer(dice, taste)
    dtype, shape = taste.pick(dice, DTYPES), any_shape(dice) or (4,)
    mood = "ordinary" if dice.random() < ORDINARY else any_mood(dice)
    for _ in range(dice.choice((2, 3))):
        made.take(any_tensor(dice, shape, dtype, mood))
    calls = [call for call, words in WORDS_OF.items() for word in words if word.tensors != 0]
    wanted, wide = dice.choice((4, 8, 8, 12, 16, 24)), dice.random() < WIDE
    for _ in range(6 * wanted):
        if len(made.steps) < wanted:
            _append(made, dice.choice(WORDS_OF[taste.pick(dice, calls)]), wide)
    return made.program()


def _append(made: Composer, word: Word, wide: bool) -> bool:
    """One more word, on an input where the program is wide, or else on the newest values rather than the oldest."""
    dice, names = made.dice, list(made.values)
    first = names[-1 - min(int(dice.expovariate(0.7)), len(names) - 1)]
    first = dice.choice(made.inputs).name if wide else first
    others = [made.fitting(made.values[first]) or Ref(first) for _ in range((word.tensors or 2) - 1)]
    value = made.values[first]
    if word.name == "matmul" and value.dim() == 2 and made.apply("torch.transpose", others[0], 0, 1):
        others = [made.newest]
    rank = value.dim()
    choices: dict[str, Callable[[], Any]] = {
        "dim": lambda: dice.randrange(max(rank, 1)),
        "int": lambda: dice.choice((0, 1, 1, 2)),
        "bool": lambda: dice.random() < 0.5,
        "number": lambda: any_number(dice, value),
        "sizes": lambda: SIZES[word.name](value),
    }
    attributes = tuple(choices[given.kind]() for given in word.given)
    step = word.step("", [first, *(ref.name for ref in others)], attributes)
    return made.apply(step.call, *step.args, **step.kwargs)
