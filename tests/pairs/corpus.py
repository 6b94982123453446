"""All pairs of programs, in one list: every pair is the same function twice, every twin is a different one."""

from pairs import (
    attention,
    contractions,
    losses,
    masks,
    moe,
    movement,
    norms,
    pointwise,
    projections,
    recurrences,
    rope,
)
from pairs.pair import Pair

GROUPS = {
    1: "fused and separate linears",
    2: "rms norm",
    3: "layer norm",
    4: "rotary embeddings",
    5: "shared key and value heads",
    6: "scaled dot-product attention",
    7: "softmax and its logarithm",
    8: "activations",
    9: "convolutions as linears",
    10: "einsum and matmul",
    11: "attention in key blocks",
    12: "low-rank updates",
    13: "cross-entropy",
    14: "projection of heads",
    15: "embedding",
    16: "cumulative sum",
    17: "average pooling",
    18: "group norm",
    19: "matmul in pieces",
    20: "padding, slices, concatenation, flips and rolls",
    21: "masked fill, where and additive masks",
    22: "sliding windows",
    23: "mixture of experts",
    24: "linear recurrences",
}

PAIRS: list[Pair] = sorted(
    [
        *projections.PAIRS,
        *norms.PAIRS,
        *rope.PAIRS,
        *attention.PAIRS,
        *pointwise.PAIRS,
        *contractions.PAIRS,
        *losses.PAIRS,
        *movement.PAIRS,
        *masks.PAIRS,
        *moe.PAIRS,
        *recurrences.PAIRS,
    ],
    key=lambda pair: pair.number,
)
