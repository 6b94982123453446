"""Operators over lists of tensors, one tensor at a time: what optimizers call in one piece.

`_foreach_mul_` is `mul_` of every tensor in a list. `_fused_adamw_` is a whole step of an optimizer: FUSED says each of
these in plain operators, as torch's own kernels compute it. An optimizer that torch writes in Python with numbers that
hang on data stands here with tensors in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from samesame.evidence import Refused
from samesame.operators.execute import bound

Tensors = Sequence[Tensor]
FOREACH = "_foreach_"

# Of one tensor, where the method of this name is none, or another function.
ONE: dict[str, Callable[..., Any]] = {
    "maximum": Tensor.clamp_min,
    "maximum_": Tensor.clamp_min_,
    "minimum": Tensor.clamp_max,
    "minimum_": Tensor.clamp_max_,
    "norm": lambda x, ord=2, dtype=None: torch.linalg.vector_norm(x, ord, dtype=dtype),
    "powsum": lambda x, ord=2, dtype=None: x.to(dtype or x.dtype).abs().pow(ord).sum(),
    "pow": torch.pow,
    "zero": torch.zeros_like,
}
# The argument that these take by name, after as many others.
NAMED = {"add": (2, "alpha"), "sub": (2, "alpha"), "addcdiv": (3, "value"), "addcmul": (3, "value")}


@cache
def one_by_one(operation: OpOverload) -> Callable[..., Any] | None:
    """What does the work of an operator over lists one tensor at a time; None for an operator that is none."""
    name = operation._opname
    if operation.namespace != "aten" or (name.partition("addc")[1] and operation._overloadname == "Tensor"):
        return None                                        # the latter takes its factors from a tensor
    return FUSED.get(name) or (partial(_for_each, operation) if name.startswith(FOREACH) else None)


def _for_each(operation: OpOverload, *args: Any, **kwargs: Any) -> list[Tensor] | None:
    """Every other argument is one for all, or a list with one for each."""
    name = operation._opname.removeprefix(FOREACH)
    given = list(bound(operation, args, kwargs).values())
    one = ONE.get(name) or getattr(Tensor, name)
    count, title = NAMED.get(name.rstrip("_"), (len(given), ""))
    results = []
    for k in range(next(len(part) for part in given if isinstance(part, list | tuple))):
        parts = [part[k] if isinstance(part, list | tuple) else part for part in given]
        results.append(one(*parts[:count], **({title: parts[count]} if parts[count:] else {})))
    return None if name.endswith("_") else results


# ---------------------------------------------------------------------------------------------------- whole optimizers


def adam(
    parts: Tensors, grads: Tensors, firsts: Tensors, seconds: Tensors, largest: Tensors, steps: Tensors, *,
    lr: float | Tensor, beta1: float, beta2: float, weight_decay: float, eps: float, amsgrad: bool, maximize: bool,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None, decoupled: bool,
) -> None:
    """Adam, or AdamW, whose decay of weights is `decoupled` from the gradient."""
    demand_unscaled(grad_scale, found_inf)
    for k, (part, grad, first, second) in enumerate(zip(parts, grads, firsts, seconds, strict=True)):
        step = steps[k].item()
        grad = -grad if maximize else grad
        if weight_decay and decoupled:
            part.sub_(lr * weight_decay * part)
        elif weight_decay:
            grad = grad + weight_decay * part
        first.lerp_(grad, 1 - beta1)
        second.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        bound_ = second
        if amsgrad:
            bound_ = largest[k].copy_(torch.maximum(largest[k], second))
        root = bound_.sqrt() / (1 - beta2**step) ** 0.5 + eps
        part.sub_(lr / (1 - beta1**step) * first / root)


def sgd(
    parts: Tensors, grads: Tensors, buffers: Tensors, *, weight_decay: float, momentum: float, lr: float | Tensor,
    dampening: float, nesterov: bool, maximize: bool, is_first_step: bool,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
) -> None:
    demand_unscaled(grad_scale, found_inf)
    for k, (part, grad) in enumerate(zip(parts, grads, strict=True)):
        grad = -grad if maximize else grad
        grad = grad + weight_decay * part if weight_decay else grad
        if momentum:
            buffers[k].copy_(grad if is_first_step else momentum * buffers[k] + (1 - dampening) * grad)
            grad = grad + momentum * buffers[k] if nesterov else buffers[k]
        part.sub_(lr * grad)


def adagrad(
    parts: Tensors, grads: Tensors, sums: Tensors, steps: Tensors, *, lr: float | Tensor, lr_decay: float,
    weight_decay: float, eps: float, maximize: bool,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
) -> None:
    demand_unscaled(grad_scale, found_inf)
    for part, grad, squares, count in zip(parts, grads, sums, steps, strict=True):
        grad = -grad if maximize else grad
        grad = grad + weight_decay * part if weight_decay else grad
        squares.add_(grad * grad)
        part.sub_(lr / (1 + (count.item() - 1) * lr_decay) * grad / (squares.sqrt() + eps))


def adafactor(
    parts: Tensors, grads: Tensors, rows: Sequence[Tensor | None], columns: Sequence[Tensor | None],
    variances: Sequence[Tensor | None], steps: Tensors, grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None, *, d: float, lr: float | Tensor, beta2_decay: float, weight_decay: float,
    eps1: float | None, eps2: float, maximize: bool, has_complex: bool,
) -> None:
    """Adafactor, which torch writes with numbers of Python that hang on data: norms, and the larger of two."""
    demand_unscaled(grad_scale, found_inf)
    for k, (part, grad) in enumerate(zip(parts, grads, strict=True)):
        grad = -grad if maximize else grad
        eps1 = torch.finfo(part.dtype).eps if eps1 is None else eps1
        steps[k].add_(1)
        step, rate = steps[k].item(), lr.item() if isinstance(lr, Tensor) else lr
        scale = _root_mean_square(part).clamp_min(eps2) * min(rate, 1 / step**0.5)
        if weight_decay:
            part.mul_(1 - rate * weight_decay)
        row, column, variance = rows[k], columns[k], variances[k]
        if row is not None and column is not None:
            row.lerp_(grad.square().mean(-1, keepdim=True), step**beta2_decay)
            column.lerp_(grad.square().mean(-2, keepdim=True), step**beta2_decay)
            estimate = row @ column / row.mean(-2, keepdim=True).clamp_min(eps1)
        else:
            assert variance is not None
            estimate = variance.lerp_(grad * grad, step**beta2_decay)
        update = estimate.clamp_min(eps1 * eps1).rsqrt() * grad
        part.sub_(scale / (_root_mean_square(update) / d).clamp_min(1) * update)


def _root_mean_square(x: Tensor) -> Tensor:
    found: Tensor = torch.linalg.vector_norm(x) / x.numel() ** 0.5
    return found


def demand_unscaled(*scaling: Tensor | None) -> None:
    if any(part is not None for part in scaling):
        raise Refused("a fused optimizer with a gradient scaler decides by values whether it takes a step; scale by "
                      "hand, or give the optimizer fused=False")


FUSED: dict[str, Callable[..., None]] = {
    "_fused_adam_": partial(adam, decoupled=False),
    "_fused_adamw_": partial(adam, decoupled=True),
    "_fused_sgd_": sgd,
    "_fused_adagrad_": adagrad,
}
