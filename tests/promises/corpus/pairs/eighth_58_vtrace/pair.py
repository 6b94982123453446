"""IMPALA's V-trace targets and policy-gradient advantages: the loop of the paper's code, and a matrix form."""
import torch

GAMMA = 0.95


def left(logp_behaviour, logp_target, rewards, done, values, bootstrap):
    discounts = GAMMA * (1 - done)
    rhos = torch.exp(logp_target - logp_behaviour)
    clipped = torch.clamp(rhos, max=1.0)
    cs = torch.clamp(rhos, max=1.0)
    values_t1 = torch.cat([values[1:], bootstrap.unsqueeze(0)], dim=0)
    deltas = clipped * (rewards + discounts * values_t1 - values)
    acc = torch.zeros_like(bootstrap)
    out = []
    for t in reversed(range(deltas.shape[0])):
        acc = deltas[t] + discounts[t] * cs[t] * acc
        out.append(acc)
    vs = torch.stack(out[::-1]) + values
    vs_t1 = torch.cat([vs[1:], bootstrap.unsqueeze(0)], 0)
    pg = clipped * (rewards + discounts * vs_t1 - values)
    return vs, pg


def right(logp_behaviour, logp_target, rewards, done, values, bootstrap):
    T = rewards.shape[0]
    g = GAMMA - GAMMA * done
    rho = (logp_target - logp_behaviour).exp().clamp_max(1)
    nxt = torch.roll(values, -1, 0)
    nxt[-1] = bootstrap
    td = rho * (rewards + g * nxt - values)
    w = g * rho
    rows = []
    for s in range(T):
        coef, total = torch.ones_like(bootstrap), torch.zeros_like(bootstrap)
        for t in range(s, T):
            total = total + coef * td[t]
            coef = coef * w[t]
        rows.append(values[s] + total)
    vs = torch.stack(rows)
    adv = rho * (rewards + g * nxt - values)
    return vs, adv


T, B = 5, 3
inputs = (torch.randn(T, B), torch.randn(T, B), torch.randn(T, B), (torch.rand(T, B) < 0.2).to(torch.get_default_dtype()), torch.randn(T, B), torch.randn(B))
