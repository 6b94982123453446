"""A feed-forward block whose GELU was replaced by its tanh approximation. The two sides are NOT the same function.

    samesame check examples/pairs/gelu.py

The outputs differ by less than a thousandth, which a comparison with a tolerance would let pass.
"""

import torch
from torch.nn import functional as F


def left(x, up, up_bias, down):
    """The reference: exact GELU, x · Φ(x)."""
    return F.linear(F.gelu(F.linear(x, up, up_bias)), down)


def right(x, up, up_bias, down):
    """The port: somebody took the other GELU."""
    return F.linear(F.gelu(F.linear(x, up, up_bias), approximate="tanh"), down)


def inputs():
    return torch.randn(5, 7), 0.3 * torch.randn(11, 7), torch.randn(11), 0.3 * torch.randn(7, 11)
