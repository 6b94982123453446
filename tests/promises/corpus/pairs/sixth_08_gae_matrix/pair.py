import torch

GAMMA, LAM = 0.99, 0.95


def left(rewards, values, dones, last_value):
    T = rewards.shape[0]
    adv = torch.zeros_like(rewards)
    running = torch.zeros_like(last_value)
    for t in reversed(range(T)):
        nxt = last_value if t == T - 1 else values[t + 1]
        nonterminal = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * nxt * nonterminal - values[t]
        running = delta + GAMMA * LAM * nonterminal * running
        adv[t] = running
    return adv, adv + values


def right(rewards, values, dones, last_value):
    T = rewards.shape[0]
    keep = 1.0 - dones
    next_values = torch.cat([values[1:], last_value[None]], 0)
    deltas = rewards + GAMMA * next_values * keep - values
    rows = []
    for t in range(T):
        # discount from t to every later step: 1, gl*keep_t, gl^2*keep_t*keep_{t+1}, ...
        steps = (GAMMA * LAM) * keep[t : T - 1]
        disc = torch.cat([torch.ones_like(last_value)[None], steps.cumprod(0)], 0)
        rows.append((disc * deltas[t:]).sum(0))
    adv = torch.stack(rows)
    return adv, adv + values


def inputs():
    dones = (torch.rand(6, 3) < 0.3).float()
    return torch.randn(6, 3), torch.randn(6, 3), dones, torch.randn(3)
