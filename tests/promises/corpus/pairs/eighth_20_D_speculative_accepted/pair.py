import torch

K, V = 4, 11


def verify(target_logits, draft_logits, draft_ids, u):
    """Speculative sampling: how many draft tokens stay, and the distribution of the next one."""
    p = target_logits.softmax(-1)                     # [B, K + 1, V]
    q = draft_logits.softmax(-1)                      # [B, K, V]
    px = p[:, :K].gather(2, draft_ids[..., None]).squeeze(-1)
    qx = q.gather(2, draft_ids[..., None]).squeeze(-1)
    accepted = u * qx < px
    n = accepted.to(torch.int64).cumprod(dim=1).sum(dim=1)
    residual = torch.relu(p[:, :K] - q)
    residual = residual / residual.sum(-1, keepdim=True)
    every = torch.cat([residual, p[:, K:]], dim=1)
    return n, every[torch.arange(len(n)), n]


def verify_ported(target_logits, draft_logits, draft_ids, u):
    b = draft_ids.shape[0]
    p = torch.softmax(target_logits, dim=2)
    q = torch.cat([torch.softmax(draft_logits, dim=2), torch.zeros_like(p[:, :1])], dim=1)
    rows, cols = torch.arange(b)[:, None], torch.arange(K)[None]
    ok = u < (p[rows, cols, draft_ids] / q[rows, cols, draft_ids]).clamp(max=1.0)
    n = ok.sum(dim=1)
    at = n.view(b, 1, 1).expand(b, 1, V)
    diff = (p.gather(1, at) - q.gather(1, at)).squeeze(1).clamp(min=0)
    return n, diff / diff.sum(dim=1, keepdim=True)


left, right = verify, verify_ported
torch.manual_seed(30)
inputs = (torch.randn(8, K + 1, V), torch.randn(8, K, V), torch.randint(0, V, (8, K)), torch.rand(8, K))
