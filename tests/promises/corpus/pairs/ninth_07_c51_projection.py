# EQUAL
import torch
import torch.nn.functional as F

V_MIN, V_MAX, ATOMS, GAMMA = -2.0, 2.0, 9, 0.9
DELTA = (V_MAX - V_MIN) / (ATOMS - 1)


def left(logits, next_logits, actions, rewards, nonterminal):
    """Rainbow: floor and ceiling atoms, index_add_"""
    n = rewards.shape[0]
    support = torch.linspace(V_MIN, V_MAX, ATOMS, dtype=logits.dtype)
    log_p = F.log_softmax(logits, dim=2)[torch.arange(n), actions]
    p_next = F.softmax(next_logits, dim=2)
    best = (support * p_next).sum(2).argmax(1)
    p = p_next[torch.arange(n), best]
    tz = rewards[:, None] + nonterminal[:, None] * GAMMA * support[None]
    b = (tz.clamp(V_MIN, V_MAX) - V_MIN) / DELTA
    lower, upper = b.floor(), b.ceil()
    same = lower == upper
    lower = torch.where(same & (upper > 0), lower - 1, lower)
    upper = torch.where((lower == upper) & (lower < ATOMS - 1), upper + 1, upper)
    m = torch.zeros(n * ATOMS, dtype=logits.dtype)
    offset = (torch.arange(n) * ATOMS)[:, None].expand(n, ATOMS)
    m.index_add_(0, (lower.long() + offset).reshape(-1), (p * (upper - b)).reshape(-1))
    m.index_add_(0, (upper.long() + offset).reshape(-1), (p * (b - lower)).reshape(-1))
    return -(m.view(n, ATOMS) * log_p).sum(1)


def right(logits, next_logits, actions, rewards, nonterminal):
    """Dopamine: every atom takes a triangular share"""
    z = torch.linspace(V_MIN, V_MAX, ATOMS, dtype=logits.dtype)
    probs = next_logits.softmax(-1)
    greedy = torch.einsum("bak,k->ba", probs, z).argmax(-1)
    next_p = probs.gather(1, greedy[:, None, None].expand(-1, 1, ATOMS)).squeeze(1)
    target = torch.clamp(rewards[:, None] + GAMMA * nonterminal[:, None] * z, V_MIN, V_MAX)
    share = (1 - (target[:, None, :] - z[None, :, None]).abs() / DELTA).clamp(0, 1)
    projected = (share * next_p[:, None, :]).sum(-1)
    chosen = logits.gather(1, actions[:, None, None].expand(-1, 1, ATOMS)).squeeze(1)
    return torch.logsumexp(chosen, -1) * projected.sum(-1) - (projected * chosen).sum(-1)


def inputs():
    torch.manual_seed(51)
    return (
        torch.randn(4, 3, ATOMS),
        torch.randn(4, 3, ATOMS),
        torch.randint(0, 3, (4,)),
        torch.randn(4),
        (torch.rand(4) < 0.7).to(torch.get_default_dtype()),
    )
