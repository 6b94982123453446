"""A training step twice: by torch's AdamW, and as its paper writes it; and once with a mistake, decay in the gradient.

    samesame check examples/training.py:ByTorch examples/training.py:ByHand --inputs examples/training.py:inputs
"""

import torch
from torch import nn
from torch.nn import functional as F

RATE, BETAS, EPSILON, DECAY = 0.01, (0.9, 0.99), 1e-8, 0.05


def layer():
    torch.manual_seed(0)
    return nn.Linear(5, 3)


def inputs():
    torch.manual_seed(1)
    return torch.randn(4, 5), torch.randn(4, 3)


class ByTorch:
    def __init__(self):
        self.model = layer()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=RATE, betas=BETAS, eps=EPSILON, weight_decay=DECAY
        )

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ByHand:
    decoupled = True

    def __init__(self):
        self.model = layer()
        self.averages = [(torch.zeros_like(w), torch.zeros_like(w)) for w in self.model.parameters()]
        self.steps = 0

    @torch.no_grad()
    def __call__(self, x, y):
        error = self.model(x) - y
        slope = 2 * error / error.numel()
        self.model.weight.grad, self.model.bias.grad = slope.T @ x, slope.sum(0)
        self.steps += 1
        for weight, (first, second) in zip(self.model.parameters(), self.averages, strict=True):
            grad = weight.grad if self.decoupled else weight.grad + DECAY * weight
            if self.decoupled:
                weight.mul_(1 - RATE * DECAY)
            first.mul_(BETAS[0]).add_((1 - BETAS[0]) * grad)
            second.mul_(BETAS[1]).add_((1 - BETAS[1]) * grad * grad)
            unbiased = first / (1 - BETAS[0] ** self.steps), second / (1 - BETAS[1] ** self.steps)
            weight.sub_(RATE * unbiased[0] / (unbiased[1].sqrt() + EPSILON))
        return error.square().mean()


class Coupled(ByHand):
    decoupled = False
