import torch
import torch.nn.functional as F
from torch import nn

RHO, LR, MOMENTUM = 0.05, 0.1, 0.9


def network():
    torch.manual_seed(39)
    return nn.Sequential(nn.Linear(5, 6), nn.SiLU(), nn.Linear(6, 4))


class SAM(torch.optim.Optimizer):
    def __init__(self, params, rho, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base = torch.optim.SGD(self.param_groups, **kw)

    def _params(self):
        return [p for group in self.param_groups for p in group["params"]]

    @torch.no_grad()
    def first_step(self):
        norm = torch.norm(torch.stack([p.grad.norm(p=2) for p in self._params()]), p=2)
        for p in self._params():
            self.state[p]["old_p"] = p.data.clone()
            p.add_(p.grad * (RHO / (norm + 1e-12)))
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for p in self._params():
            p.data = self.state[p]["old_p"]
        self.base.step()
        self.zero_grad()


class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = network()
        self.optimizer = SAM(self.model.parameters(), rho=RHO, lr=LR)

    def forward(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.first_step()
        F.cross_entropy(self.model(x), y).backward()
        self.optimizer.second_step()
        return loss.detach()


class FunctionalTrainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = network()

    def forward(self, x, y):
        def loss_of(params):
            return F.cross_entropy(torch.func.functional_call(self.model, params, (x,)), y)

        params = {n: p.detach() for n, p in self.model.named_parameters()}
        grads, loss = torch.func.grad_and_value(loss_of)(params)
        norm = sum(g.pow(2).sum() for g in grads.values()).sqrt()
        params = {n: p + RHO * grads[n] / (norm + 1e-12) for n, p in params.items()}
        grads = torch.func.grad(loss_of)(params)
        with torch.no_grad():
            for n, p in self.model.named_parameters():
                p.copy_(params[n] - LR * grads[n])
        return loss


left, right = Trainer(), FunctionalTrainer()
inputs = (torch.randn(6, 5), torch.tensor([0, 3, 1, 2, 2, 0]))
