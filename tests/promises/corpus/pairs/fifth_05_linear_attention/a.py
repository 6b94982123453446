import torch
from torch.nn import functional as F


def program(q, k, v):
    """Linear transformer, over (batch, length, heads, dim): keys and values are summed up first."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    kv = torch.einsum("nshd,nshm->nhmd", k, v)
    z = 1 / (torch.einsum("nlhd,nhd->nlh", q, k.sum(dim=1)) + 1e-6)
    return torch.einsum("nlhd,nhmd,nlh->nlhm", q, kv, z)
