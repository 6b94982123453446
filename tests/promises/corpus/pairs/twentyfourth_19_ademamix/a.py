"""AdEMAMix (Pagliardini et al.): the reference optimizer, on a regression with a small network."""
import torch
from torch import nn
from torch.nn import functional as F


class AdEMAMix(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.999, 0.99), alpha=2.0, eps=1e-8, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, alpha=alpha, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2, beta3 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad, state = p.grad, self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg_fast"] = torch.zeros_like(p)
                    state["exp_avg_slow"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                bias_correction1 = 1 - beta1 ** state["step"]
                bias_correction2 = 1 - beta2 ** state["step"]
                fast, slow, sq = state["exp_avg_fast"], state["exp_avg_slow"], state["exp_avg_sq"]
                fast.mul_(beta1).add_(grad, alpha=1 - beta1)
                slow.mul_(beta3).add_(grad, alpha=1 - beta3)
                sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                denom = (sq.sqrt() / bias_correction2**0.5).add_(group["eps"])
                update = (fast / bias_correction1 + group["alpha"] * slow) / denom
                update.add_(p, alpha=group["weight_decay"])
                p.add_(update, alpha=-group["lr"])


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(5, 6), nn.GELU(), nn.Linear(6, 2))
        self.optimizer = AdEMAMix(self.model.parameters())

    def __call__(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


def inputs():
    return torch.randn(4, 5), torch.randn(4, 2)
