# EQUAL
import torch
import torch.nn.functional as F

M, GAMMA = 0.25, 16.0


def left(feats, labels):
    """Circle loss as in the paper: log(1 + sum_j sum_i exp(gamma (alpha_n (s_n - D_n) - alpha_p (s_p - D_p))))."""
    z = F.normalize(feats, dim=1)
    sim = z @ z.t()
    n = sim.shape[0]
    same = labels[:, None] == labels[None, :]
    upper = torch.ones(n, n, dtype=torch.bool).triu(1)
    pos, neg = (same & upper).to(sim.dtype), (~same & upper).to(sim.dtype)
    ap = torch.relu(1 + M - sim).detach()
    an = torch.relu(sim + M).detach()
    logit_p = -GAMMA * ap * (sim - (1 - M))
    logit_n = GAMMA * an * (sim - M)
    pairs = torch.exp(logit_n.reshape(-1, 1) + logit_p.reshape(1, -1)) * neg.reshape(-1, 1) * pos.reshape(1, -1)
    return torch.log(1 + pairs.sum())


def right(feats, labels):
    """The usual implementation: softplus of two log-sum-exps."""
    z = feats / feats.norm(dim=1, keepdim=True).clamp_min(1e-12)
    sim = z @ z.T
    same = labels.unsqueeze(0).eq(labels.unsqueeze(1))
    pos = torch.triu(same, diagonal=1)
    neg = torch.triu(same.logical_not(), diagonal=1)
    ap = torch.clamp_min(-sim.detach() + 1 + M, 0.0)
    an = torch.clamp_min(sim.detach() + M, 0.0)
    lp = (-ap * (sim - 1 + M) * GAMMA).masked_fill(~pos, float("-inf"))
    ln = (an * (sim - M) * GAMMA).masked_fill(~neg, float("-inf"))
    return F.softplus(torch.logsumexp(ln.flatten(), 0) + torch.logsumexp(lp.flatten(), 0))


def inputs():
    return torch.randn(6, 8), torch.tensor([0, 1, 0, 2, 1, 2])
