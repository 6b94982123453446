# EQUAL
import torch


def left(reward, value, logits, bootstrap):
    """Dreamer's lambda return, backwards in time. Sizes [T, B]; discount from the continue head."""
    lam = 0.95
    pcont = 0.99 * torch.sigmoid(logits)
    next_values = torch.cat([value[1:], bootstrap[None]], 0)
    inputs_ = reward + pcont * next_values * (1 - lam)
    last = bootstrap
    outs = []
    for t in reversed(range(reward.shape[0])):
        last = inputs_[t] + pcont[t] * lam * last
        outs.append(last)
    return torch.stack(outs[::-1], 0)


def right(reward, value, logits, bootstrap):
    """The weighted mean over n-step returns: (1 - lam) sum_n lam^(n-1) G_n + lam^(N-1) G_N."""
    lam = 0.95
    T = reward.shape[0]
    gamma = logits.sigmoid() * 0.99
    v = torch.cat([value, bootstrap.unsqueeze(0)])
    rows = []
    for t in range(T):
        acc = torch.zeros_like(bootstrap)
        rewards, disc = torch.zeros_like(bootstrap), torch.ones_like(bootstrap)
        n_max = T - t
        for n in range(1, n_max + 1):
            rewards = rewards + disc * reward[t + n - 1]
            disc = disc * gamma[t + n - 1]
            g_n = rewards + disc * v[t + n]
            weight = lam ** (n - 1) * ((1 - lam) if n < n_max else 1.0)
            acc = acc + weight * g_n
        rows.append(acc)
    return torch.stack(rows)


def inputs():
    return torch.randn(5, 3), torch.randn(5, 3), torch.randn(5, 3), torch.randn(3)
