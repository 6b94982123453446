# EQUAL
import torch
import torch.nn.functional as F

GAMMA = 0.875
CHUNK = 3


def head_norm(y, gate):
    y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
    return F.silu(gate) * y


def left(q, k, v, gate):
    """RetNet, parallel"""
    t = q.shape[1]
    n = torch.arange(t)
    dist = (n[:, None] - n[None, :]).to(q.dtype)
    decay = torch.where(dist >= 0, GAMMA ** dist.clamp(min=0), torch.zeros(()).to(q.dtype))
    y = (torch.einsum("bnd,bmd->bnm", q, k) * decay) @ v
    return head_norm(y, gate)


def right(q, k, v, gate):
    """RetNet, chunk by chunk with a carried state"""
    state = q.new_zeros(q.shape[0], q.shape[2], v.shape[2])
    outs = []
    for qc, kc, vc in zip(q.split(CHUNK, 1), k.split(CHUNK, 1), v.split(CHUNK, 1)):
        c = qc.shape[1]
        step = torch.arange(c).to(q.dtype)
        inner = GAMMA ** (step[:, None] - step[None, :])
        inner = torch.tril(inner)
        here = torch.matmul(torch.matmul(qc, kc.mT) * inner, vc)
        before = torch.matmul(qc, state) * (GAMMA ** (step + 1))[:, None]
        outs.append(here + before)
        weighted = kc * (GAMMA ** (c - 1 - step))[:, None]
        state = GAMMA ** c * state + weighted.transpose(1, 2) @ vc
    return head_norm(torch.cat(outs, dim=1), gate)


def inputs():
    g = torch.Generator().manual_seed(8)
    return (
        torch.randn(2, 7, 4, generator=g),
        torch.randn(2, 7, 4, generator=g),
        torch.randn(2, 7, 6, generator=g),
        torch.randn(2, 7, 6, generator=g),
    )
