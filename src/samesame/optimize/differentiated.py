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
    return tensor.requires_grad and not all(is_freed(tensor, leaf) for leaf in leaves(tensor))


def is_freed(tensor: torch.Tensor, leaf: torch.Tensor) -> bool:
    """Whether nobody can take the derivative for a leaf any more, as the graph between them is gone."""
    try:
        torch.autograd.grad(tensor, leaf, torch.ones_like(tensor), retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


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
