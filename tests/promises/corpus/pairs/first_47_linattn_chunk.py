# EQUAL. causal linear attention (elu+1 features, normalised): quadratic with tril vs chunked with a carried state
import torch
import torch.nn.functional as F

CHUNK = 3


def left(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    a = torch.tril(q @ k.transpose(-2, -1))
    return (a @ v) / a.sum(-1, keepdim=True)


def right(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    state = torch.zeros(*q.shape[:-2], q.shape[-1], v.shape[-1], dtype=q.dtype)
    z = torch.zeros(*q.shape[:-2], q.shape[-1], dtype=q.dtype)
    outs = []
    for qc, kc, vc in zip(q.split(CHUNK, -2), k.split(CHUNK, -2), v.split(CHUNK, -2)):
        intra = torch.tril(qc @ kc.mT)
        num = intra @ vc + qc @ state
        den = intra.sum(-1) + torch.einsum("bhtd,bhd->bht", qc, z)
        outs.append(num / den[..., None])
        state = state + kc.mT @ vc
        z = z + kc.sum(-2)
    return torch.cat(outs, -2)


torch.manual_seed(0)
inputs = tuple(torch.randn(1, 2, 6, 4) for _ in range(3))
