import torch
import torch.nn.functional as F


def left(q, k, v, beta):
    """q, k: B H T K; v: B H T V; beta: B H T, after its sigmoid"""
    B, H, T, K = k.shape
    k = F.normalize(k, dim=-1)
    q = q * K**-0.5
    S = torch.zeros(B, H, K, v.shape[-1])
    o = torch.zeros_like(v)
    for t in range(T):
        kt, vt, bt = k[:, :, t], v[:, :, t], beta[:, :, t, None]
        old = (S * kt[..., None]).sum(-2)
        S = S + kt[..., None] * ((vt - old) * bt)[..., None, :]
        o[:, :, t] = (q[:, :, t, :, None] * S).sum(-2)
    return o


def right(q, k, v, beta, C=3):
    B, H, T, K = k.shape
    k = F.normalize(k, dim=-1)
    q = q / K**0.5
    n = T // C
    q, k, v = (x.reshape(B, H, n, C, -1) for x in (q, k, v))
    beta = beta.reshape(B, H, n, C, 1)
    eye = torch.eye(C)
    A = eye + ((beta * k) @ k.transpose(-1, -2)).tril(-1)
    U = torch.linalg.solve_triangular(A, beta * v, upper=False, unitriangular=True)
    W = torch.linalg.solve_triangular(A, beta * k, upper=False, unitriangular=True)
    S = torch.zeros(B, H, K, v.shape[-1])
    outs = []
    for i in range(n):
        new = U[:, :, i] - W[:, :, i] @ S
        intra = (q[:, :, i] @ k[:, :, i].transpose(-1, -2)).tril() @ new
        outs.append(q[:, :, i] @ S + intra)
        S = S + k[:, :, i].transpose(-1, -2) @ new
    return torch.cat(outs, dim=2)


def inputs():
    B, H, T, K, V = 2, 2, 6, 4, 5
    return torch.randn(B, H, T, K), torch.randn(B, H, T, K), torch.randn(B, H, T, V), torch.rand(B, H, T)
