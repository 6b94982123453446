"""Algebra: graphs of the operators that rewrites know, on values of one shape, so that twins have a choice."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from samesame.fuzz.generators.operators import Composer
from samesame.fuzz.generators.taste import PLAIN, Taste
from samesame.fuzz.generators.values import DTYPES, any_mood, any_shape, any_tensor
from samesame.fuzz.program import Program, Ref
from samesame.fuzz.words import WORDS_OF, Word

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
    calls = [call for call, words in WORDS_OF.items() if words[0].tensors != 0]
    wanted = dice.choice((4, 8, 8, 12, 16, 24))
    for _ in range(6 * wanted):
        if len(made.steps) < wanted:
            _append(made, dice.choice(WORDS_OF[taste.pick(dice, calls)]))
    return made.program()


def _append(made: Composer, word: Word) -> bool:
    """One more word, on the newest values rather than the oldest."""
    dice, names = made.dice, list(made.values)
    first = names[-1 - min(int(dice.expovariate(0.7)), len(names) - 1)]
    others = [made.fitting(made.values[first]) or Ref(first) for _ in range((word.tensors or 2) - 1)]
    value = made.values[first]
    if word.name == "matmul" and value.dim() == 2 and made.apply("torch.transpose", others[0], 0, 1):
        others = [made.newest]
    rank = value.dim()
    choices: dict[str, Callable[[], Any]] = {
        "dim": lambda: dice.randrange(max(rank, 1)),
        "int": lambda: dice.choice((0, 1, 1, 2)),
        "bool": lambda: dice.random() < 0.5,
        "number": lambda: dice.choice((2, 0.5, -1.5, 0, 0.0) if value.is_floating_point() else (2, 3, -1, 0)),
        "sizes": lambda: SIZES[word.name](value),
    }
    attributes = tuple(choices[given.kind]() for given in word.given)
    step = word.step("", [first, *(ref.name for ref in others)], attributes)
    return made.apply(step.call, *step.args, **step.kwargs)
