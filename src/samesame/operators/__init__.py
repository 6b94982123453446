"""What every operator means, as a formula: one file per family, and each entry reads as its mathematics.

    meaning_of("aten.mm")(a, b)        # the product of two formula tensors
    explain(node, lookup)              # the formula of a graph's node, given those of the nodes it reads

Torch executes operators, this package explains them, and tests/operators/test_meanings.py holds the two together.
Adding an operator is adding one entry to the file of its family.
"""

from __future__ import annotations

from samesame.operators import (  # noqa: F401  each enters its operators into the table
    attention,
    backward,
    bags,
    borders,
    complex,
    constants,
    contraction,
    counting,
    distances,
    grids,
    indexing,
    linalg,
    loss,
    movement,
    normalisation,
    ordering,
    pointwise,
    powers,
    quantisation,
    reduction,
    resizing,
    shuffles,
    special,
    spectral,
    vllm,
    window_gradients,
    windows,
)
from samesame.operators.explain import explain
from samesame.operators.numbers import constant, readings
from samesame.operators.opaque import is_deterministic
from samesame.operators.table import meaning, meaning_of, movements

MOVEMENT = movements()                                     # packets of operators that only move elements

__all__ = ["MOVEMENT", "constant", "explain", "is_deterministic", "meaning", "meaning_of", "readings"]
