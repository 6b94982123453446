"""TRPO's Fisher-vector product: double backward through the KL divergence, and J' F J v with forward mode (Gauss-Newton)."""
import torch
from torch import nn
from torch.func import functional_call, jvp, vjp

DAMP = 0.1


def policy():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))


class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = policy()

    def forward(self, obs, v):
        params = list(self.pi.parameters())
        logp = self.pi(obs).log_softmax(-1)
        old = logp.detach()
        kl = (old.exp() * (old - logp)).sum(-1).mean()
        grads = torch.autograd.grad(kl, params, create_graph=True)
        flat = torch.cat([g.reshape(-1) for g in grads])
        hv = torch.autograd.grad((flat * v).sum(), params)
        return torch.cat([g.reshape(-1) for g in hv]) + DAMP * v


class right(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = policy()

    def forward(self, obs, v):
        params = {k: p.detach() for k, p in self.pi.named_parameters()}
        direction, start = {}, 0
        for k, p in params.items():
            direction[k] = v[start:start + p.numel()].view_as(p)
            start += p.numel()

        def logits(ps):
            return functional_call(self.pi, ps, (obs,))
        z, jv = jvp(logits, (params,), (direction,))
        p = z.softmax(-1)
        fjv = p * (jv - (p * jv).sum(-1, keepdim=True)) / obs.shape[0]
        _, pull = vjp(logits, params)
        (out,) = pull(fjv)
        return torch.cat([out[k].flatten() for k in params]) + DAMP * v


def inputs():
    return torch.randn(5, 3), torch.randn(3 * 4 + 4 + 4 * 3 + 3)
