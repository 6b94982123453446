"""An optimizer after the old AdamW of Transformers and of TensorFlow: the bias corrections are folded in the step size."""

import math

import torch
from a import make_model
from torch.nn import functional as F


class FoldedAdamW:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.exp_avg = [torch.zeros_like(p) for p in self.parameters]
        self.exp_avg_sq = [torch.zeros_like(p) for p in self.parameters]
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        beta1, beta2 = self.betas
        step_size = self.lr * math.sqrt(1.0 - beta2**self.steps) / (1.0 - beta1**self.steps)
        for p, m, v in zip(self.parameters, self.exp_avg, self.exp_avg_sq):
            m.mul_(beta1).add_(p.grad, alpha=1.0 - beta1)
            v.mul_(beta2).addcmul_(p.grad, p.grad, value=1.0 - beta2)
            p.add_(p, alpha=-self.lr * self.weight_decay)
            p.addcdiv_(m, v.sqrt().add_(self.eps), value=-step_size)


class FoldedTrainer:
    def __init__(self):
        self.model = make_model()
        self.optimizer = FoldedAdamW(self.model.parameters())

    def __call__(self, x, y):
        for p in self.model.parameters():
            p.grad = None
        error = (self.model(x) - y).abs()
        loss = torch.where(error < 1, 0.5 * error.square(), error - 0.5).mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()
