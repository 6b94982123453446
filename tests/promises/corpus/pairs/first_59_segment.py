# EQUAL (segments that are not empty, or 0 where they are). GNN mean aggregation: index_add + bincount vs one-hot matmul; scatter_add
import torch
import torch.nn.functional as F

NODES = 4


def left(x, src, dst):
    msg = x[src]
    out = torch.zeros(NODES, x.size(1), dtype=x.dtype).index_add_(0, dst, msg)
    deg = torch.bincount(dst, minlength=NODES).clamp(min=1)
    total = torch.zeros(NODES, dtype=x.dtype).scatter_add_(0, src, msg.sum(1))
    return out / deg.unsqueeze(-1), total


def right(x, src, dst):
    D = F.one_hot(dst, NODES).to(x.dtype)          # E N
    S = (src[:, None] == torch.arange(NODES)).to(x.dtype)
    out = D.T @ (S @ x)
    deg = D.sum(0)
    return out / torch.where(deg > 0, deg, 1.0)[:, None], S.T @ (S @ x).sum(-1)


torch.manual_seed(0)
inputs = (torch.randn(NODES, 3), torch.tensor([0, 1, 2, 3, 0, 2]), torch.tensor([1, 1, 0, 3, 3, 3]))
