"""A training step with Lion, an optimizer written the usual way; gradients clipped by their norm."""
import torch
from torch import nn
from torch.nn import functional as F

RATE, BETAS, DECAY, CLIP = 1e-2, (0.9, 0.99), 0.1, 0.5


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, betas, weight_decay):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            one, two = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if "exp_avg" not in state:
                    state["exp_avg"] = torch.zeros_like(p)
                average = state["exp_avg"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                update = average.clone().mul_(one).add(p.grad, alpha=1 - one).sign_()
                p.add_(update, alpha=-group["lr"])
                average.mul_(two).add_(p.grad, alpha=1 - two)


def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 2))


class Plain:
    def __init__(self):
        self.model = network()
        self.optimizer = Lion(self.model.parameters(), RATE, BETAS, DECAY)

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimizer.step()
        return loss.detach(), norm


def inputs():
    return torch.randn(4, 5), torch.randn(4, 2)
