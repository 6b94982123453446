"""Operators that samesame has no meaning for, registered with torch under `planted::`; they run on the CPU."""

import torch


@torch.library.custom_op("planted::swish", mutates_args=())
def swish(x: torch.Tensor) -> torch.Tensor:
    """x · sigmoid(x)."""
    return x * torch.sigmoid(x)


@torch.library.custom_op("planted::clipped", mutates_args=())
def clipped(x: torch.Tensor) -> torch.Tensor:
    """x · sigmoid(x) where |x| is below 8, which is almost everywhere on normal values; 0 elsewhere."""
    return torch.where(x.abs() < 8, x * torch.sigmoid(x), torch.zeros_like(x))


@torch.library.custom_op("planted::noisy", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def noisy(x: torch.Tensor) -> torch.Tensor:
    """x · sigmoid(x) here, though it says that it draws random numbers."""
    return x * torch.sigmoid(x)


@torch.library.custom_op("planted::step", mutates_args=())
def step(x: torch.Tensor) -> torch.Tensor:
    """x plus what its dtype can tell from one; in float64 the same for all."""
    return x + torch.finfo(x.dtype).eps


@swish.register_fake
@clipped.register_fake
@noisy.register_fake
@step.register_fake
def _(x):
    return torch.empty_like(x)
