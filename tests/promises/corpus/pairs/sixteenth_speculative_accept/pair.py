"""How many drafted tokens are kept, and what the next token is drawn from."""
import torch
from torch.nn import functional as F


def left(draft_logits, target_logits, ids, u):
    b, k = ids.shape
    q, p = draft_logits.softmax(-1), target_logits.softmax(-1)
    alive = torch.ones(b, dtype=torch.bool)
    accepted = torch.zeros(b, dtype=torch.long)
    for i in range(k):
        qi = q[:, i].gather(1, ids[:, i:i + 1]).squeeze(1)
        pi = p[:, i].gather(1, ids[:, i:i + 1]).squeeze(1)
        alive = alive & (u[:, i] <= pi / qi)
        accepted = accepted + alive.long()
    dist = p[:, k]
    for i in range(k):
        rest = (p[:, i] - q[:, i]).clamp(min=0)
        rest = rest / rest.sum(-1, keepdim=True)
        dist = torch.where((accepted == i)[:, None], rest, dist)
    return accepted, dist


def right(draft_logits, target_logits, ids, u):
    k, v = ids.shape[1], draft_logits.shape[-1]
    q, p = F.softmax(draft_logits, -1), F.softmax(target_logits, -1)
    hot = F.one_hot(ids, v).to(q.dtype)
    ok = u * (q * hot).sum(-1) <= (p[:, :k] * hot).sum(-1)
    accepted = ok.long().cumprod(1).sum(1)
    rest = F.relu(p - F.pad(q, (0, 0, 0, 1)))
    row = rest.gather(1, accepted[:, None, None].expand(-1, 1, v)).squeeze(1)
    return accepted, row / row.sum(-1, keepdim=True)


inputs = (torch.randn(5, 3, 8), torch.randn(5, 4, 8), torch.randint(0, 8, (5, 3)), torch.rand(5, 3))
