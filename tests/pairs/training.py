"""Training steps: torch's optimizers, the same written by hand, and batches in parts. A layer [features, in] learns to
map x [rows, in] to y [rows, features]."""

import torch
from torch import nn
from torch.nn import functional as F

from pairs.pair import Pair, inputs, twins, vary

DRAWN = inputs((3, 5), (3,), (4, 5), (4, 3))
EIGHT = inputs((3, 5), (3,), (8, 5), (8, 3))


def gradients(weight, bias, x, y):
    """Of the mean squared error."""
    slope = 2 * (x @ weight.T + bias - y) / y.numel()
    return slope.T @ x, slope.sum(0)


def fit(weight, bias, x, y, optimizer=torch.optim.SGD, steps=2, zero=True, **options):
    """Some steps of one of torch's optimizers."""
    weight, bias = (nn.Parameter(part.clone()) for part in (weight, bias))
    made = optimizer([weight, bias], **options)
    for _ in range(steps):
        if zero:
            made.zero_grad()
        F.mse_loss(F.linear(x, weight, bias), y).backward()
        made.step()
    return weight.detach(), bias.detach()


def sgd_by_hand(weight, bias, x, y, lr=0.1, momentum=0.9, decay=0.01, damped=0.0):
    parts, velocities = [weight, bias], [0.0, 0.0]
    for step in range(2):
        grads = [grad + decay * part for grad, part in zip(gradients(*parts, x, y), parts, strict=True)]
        share = 1 - damped if step else 1
        velocities = [momentum * v + share * grad for v, grad in zip(velocities, grads, strict=True)]
        parts = [part - lr * v for part, v in zip(parts, velocities, strict=True)]
    return tuple(parts)


def adam_by_hand(
    weight, bias, x, y, lr=0.01, betas=(0.9, 0.99), eps=1e-3, decay=0.05, coupled=False, corrected=True, inside=False
):
    """AdamW as its paper has it."""
    parts = [weight, bias]
    first, second = ([torch.zeros_like(part) for part in parts] for _ in range(2))
    for step in (1, 2):
        grads = gradients(*parts, x, y)
        moved = []
        for k, (part, grad) in enumerate(zip(parts, grads, strict=True)):
            grad = grad + decay * part if coupled else grad
            first[k] = betas[0] * first[k] + (1 - betas[0]) * grad
            second[k] = betas[1] * second[k] + (1 - betas[1]) * grad * grad
            m = first[k] / (1 - betas[0] ** step) if corrected else first[k]
            v = second[k] / (1 - betas[1] ** step) if corrected else second[k]
            root = (v + eps).sqrt() if inside else v.sqrt() + eps
            part = part if coupled else part * (1 - lr * decay)
            moved.append(part - lr * m / root)
        parts = moved
    return tuple(parts)


ADAM = {"lr": 0.01, "betas": (0.9, 0.99), "eps": 1e-3, "weight_decay": 0.05}
SGD = {"optimizer": torch.optim.SGD, "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}


def clipped(weight, bias, x, y, most=0.5):
    weight, bias = (nn.Parameter(part.clone()) for part in (weight, bias))
    F.mse_loss(F.linear(x, weight, bias), y).backward()
    total = nn.utils.clip_grad_norm_([weight, bias], most)
    return weight.grad, bias.grad, total


def clipped_by_hand(weight, bias, x, y, most=0.5, apart=False):
    grads = gradients(weight, bias, x, y)
    total = sum(grad.square().sum() for grad in grads).sqrt()
    norms = [grad.square().sum().sqrt() for grad in grads] if apart else [total, total]
    return *(grad * (most / (norm + 1e-6)).clamp(max=1) for grad, norm in zip(grads, norms, strict=True)), total


def whole_batch(weight, bias, x, y):
    weight, bias = (nn.Parameter(part.clone()) for part in (weight, bias))
    F.mse_loss(F.linear(x, weight, bias), y).backward()
    return weight.grad, bias.grad


def accumulated(weight, bias, x, y, weighted=True, zero=False):
    weight, bias = (nn.Parameter(part.clone()) for part in (weight, bias))
    for rows in slice(0, 3), slice(3, 8):
        if zero:
            weight.grad = bias.grad = None
        loss = F.mse_loss(F.linear(x[rows], weight, bias), y[rows])
        share = len(x[rows]) / len(x) if weighted else 0.5
        (loss * share).backward()
    return weight.grad, bias.grad


PAIRS = [
    Pair("sgd with momentum", 30, vary(fit, **SGD, foreach=False), sgd_by_hand, DRAWN,
         twins(dampened=vary(sgd_by_hand, damped=0.1), gradients_not_reset=vary(fit, **SGD, zero=False))),
    Pair("sgd over lists", 30, vary(fit, **SGD, foreach=False), vary(fit, **SGD, foreach=True), DRAWN,
         twins(nesterov=vary(fit, **SGD, foreach=True, nesterov=True))),
    Pair("adamw", 31, vary(fit, optimizer=torch.optim.AdamW, foreach=False, **ADAM), adam_by_hand, DRAWN,
         twins(eps_inside_the_root=vary(adam_by_hand, inside=True), coupled_decay=vary(adam_by_hand, coupled=True),
               bias_correction_missing=vary(adam_by_hand, corrected=False))),
    Pair("adamw over lists", 31, vary(fit, optimizer=torch.optim.AdamW, foreach=False, **ADAM),
         vary(fit, optimizer=torch.optim.AdamW, foreach=True, **ADAM), DRAWN,
         twins(coupled_decay=vary(fit, optimizer=torch.optim.Adam, foreach=True, **ADAM))),
    Pair("adamw fused", 31, vary(fit, optimizer=torch.optim.AdamW, foreach=False, **ADAM),
         vary(fit, optimizer=torch.optim.AdamW, fused=True, **ADAM), DRAWN,
         twins(coupled_decay=vary(fit, optimizer=torch.optim.Adam, fused=True, **ADAM))),
    Pair("adam", 31, vary(fit, optimizer=torch.optim.Adam, foreach=True, **ADAM), vary(adam_by_hand, coupled=True),
         DRAWN, twins(decoupled_decay=adam_by_hand)),
    Pair("clipping", 30, clipped, clipped_by_hand, DRAWN,
         twins(each_weight_for_itself=vary(clipped_by_hand, apart=True))),
    Pair("accumulation over uneven parts", 30, whole_batch, accumulated, EIGHT,
         twins(mean_of_means=vary(accumulated, weighted=False), gradients_reset=vary(accumulated, zero=True))),
]
