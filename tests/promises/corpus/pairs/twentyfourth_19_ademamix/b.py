"""AdEMAMix over lists of tensors (foreach), as a training repository ships it."""
import torch
from torch import nn


class ForeachTrainer:
    lr, beta1, beta2, beta3, alpha, eps, decay = 1e-2, 0.9, 0.999, 0.99, 2.0, 1e-8, 0.01

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(5, 6), nn.GELU(), nn.Linear(6, 2))
        self.weights = list(self.model.parameters())
        self.m1 = [torch.zeros_like(p) for p in self.weights]
        self.m2 = [torch.zeros_like(p) for p in self.weights]
        self.v = [torch.zeros_like(p) for p in self.weights]
        self.t = 0

    def __call__(self, x, y):
        loss = (self.model(x) - y).square().mean()
        grads = torch.autograd.grad(loss, self.weights)
        with torch.no_grad():
            self.update(grads)
        return loss.detach()

    def update(self, grads):
        self.t += 1
        torch._foreach_lerp_(self.m1, grads, 1 - self.beta1)
        torch._foreach_lerp_(self.m2, grads, 1 - self.beta3)
        torch._foreach_mul_(self.v, self.beta2)
        torch._foreach_addcmul_(self.v, grads, grads, 1 - self.beta2)

        fast = torch._foreach_div(self.m1, 1 - self.beta1**self.t)
        slow = torch._foreach_div(self.m2, 1 - self.beta3**self.t)
        roots = torch._foreach_sqrt(torch._foreach_div(self.v, 1 - self.beta2**self.t))
        torch._foreach_add_(roots, self.eps)
        torch._foreach_add_(fast, slow, alpha=self.alpha)
        torch._foreach_div_(fast, roots)

        torch._foreach_mul_(self.weights, 1 - self.lr * self.decay)
        torch._foreach_add_(self.weights, fast, alpha=-self.lr)
