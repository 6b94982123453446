# EQUAL. gated delta rule (Qwen3-Next): recurrence over the state vs one chunk with a triangular solve
import torch


def left(q, k, v, g, beta):
    B, H, T, D = q.shape
    S = torch.zeros(B, H, D, v.shape[-1], dtype=q.dtype)
    out = torch.zeros_like(v)
    for t in range(T):
        S = S * g[:, :, t].exp()[..., None, None]
        kv = (S * k[:, :, t, :, None]).sum(-2)
        delta = (v[:, :, t] - kv) * beta[:, :, t, None]
        S = S + k[:, :, t, :, None] * delta[..., None, :]
        out[:, :, t] = (S * q[:, :, t, :, None]).sum(-2)
    return out


def right(q, k, v, g, beta):
    T = q.shape[-2]
    c = g.cumsum(-1)
    decay = (c[..., :, None] - c[..., None, :]).tril().exp().tril()
    kk = (k @ k.transpose(-1, -2)) * decay * beta[..., None]
    A = torch.eye(T, dtype=q.dtype) + kk.tril(-1)
    u = torch.linalg.solve_triangular(A, beta[..., None] * v, upper=False, unitriangular=True)
    return ((q @ k.mT) * decay) @ u


torch.manual_seed(0)
inputs = (torch.randn(1, 2, 4, 3), torch.randn(1, 2, 4, 3) * .6, torch.randn(1, 2, 4, 3), -torch.rand(1, 2, 4), torch.rand(1, 2, 4))
