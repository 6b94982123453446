# EQUAL: Gated delta rule (Qwen3-Next): token recurrence vs chunkwise form with a triangular solve
import torch

C = 3


def left(q, k, v, g, beta):
    # q, k: B H T K, v: B H T V, g (log decay, <= 0), beta: B H T
    b, h, t, dk = k.shape
    q = q * dk**-0.5
    S = torch.zeros(b, h, dk, v.shape[-1], dtype=v.dtype)
    out = []
    for i in range(t):
        S = S * g[:, :, i].exp()[..., None, None]
        mem = (S * k[:, :, i, :, None]).sum(-2)
        delta = (v[:, :, i] - mem) * beta[:, :, i, None]
        S = S + k[:, :, i, :, None] * delta[..., None, :]
        out.append((S * q[:, :, i, :, None]).sum(-2))
    return torch.stack(out, 2), S


def right(q, k, v, g, beta):
    b, h, t, dk = k.shape
    q = q * dk**-0.5
    S = v.new_zeros(b, h, dk, v.shape[-1])
    outs = []
    for s in range(0, t, C):
        qc, kc, vc = q[:, :, s : s + C], k[:, :, s : s + C], v[:, :, s : s + C]
        bc, gc = beta[:, :, s : s + C], g[:, :, s : s + C].cumsum(-1)
        n = qc.shape[2]
        decay = (gc[..., :, None] - gc[..., None, :]).tril().exp().tril()
        A = ((kc * bc[..., None]) @ kc.transpose(-1, -2) * decay).tril(-1)
        eye = torch.eye(n, dtype=v.dtype)
        rhs = bc[..., None] * (vc - gc.exp()[..., None] * (kc @ S))
        u = torch.linalg.solve_triangular(eye + A, rhs, upper=False, unitriangular=True)
        attn = (qc @ kc.transpose(-1, -2)) * decay
        outs.append(gc.exp()[..., None] * (qc @ S) + attn @ u)
        last = gc[..., -1:]
        S = S * last.exp()[..., None] + (kc * (last - gc).exp()[..., None]).transpose(-1, -2) @ u
    return torch.cat(outs, 2), S


def inputs():
    f = torch.nn.functional
    return (
        torch.randn(2, 2, 6, 4),
        f.normalize(torch.randn(2, 2, 6, 4), dim=-1),
        torch.randn(2, 2, 6, 4),
        f.logsigmoid(torch.randn(2, 2, 6)),
        torch.rand(2, 2, 6),
    )
