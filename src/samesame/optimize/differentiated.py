"""Programs that compute gradients themselves, as a loss that returns what autograd makes of it, or forces of an energy.

What takes the place of such a program records no graph. So nothing that the program returns may be of use to autograd
any more: an output that carries a graph is let through only where the program's own gradients have freed that.
"""

from __future__ import annotations

from typing import Any

import torch

from samesame.capture.program import Program


def differentiable(program: Program) -> list[str]:
    """The outputs of a call of which derivatives can be taken yet."""
    with torch.enable_grad():
        return [name for name, tensor in program.roots(program.call()) if has_derivatives(tensor)]


def has_derivatives(tensor: torch.Tensor) -> bool:
    if not tensor.requires_grad:
        return False
    try:
        torch.autograd.grad(tensor, leaves(tensor), torch.ones_like(tensor), allow_unused=True)
    except RuntimeError:                                   # the graph was freed
        return False
    return True


def leaves(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that a result hangs on, by its graph."""
    found, seen, waiting = list[torch.Tensor](), set[Any](), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [inner for inner, _ in node.next_functions]
            found += [node.variable] if hasattr(node, "variable") else []
    return found or [tensor]
