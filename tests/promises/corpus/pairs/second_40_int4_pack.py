# EQUAL.
"""Group-wise int4 linear: unpack nibbles, subtract zero points, scale, matmul; AWQ-ish loop over groups vs whole matrix. EQUAL."""
import torch

GROUP = 8


def left(x, packed, scales, zeros):
    # packed: uint8 [out, in/2], low nibble first; scales, zeros: [out, in/GROUP]
    lo = packed & 0xF
    hi = packed >> 4
    q = torch.stack([lo, hi], dim=-1).reshape(packed.shape[0], -1).to(x.dtype)
    w = (q.view(q.shape[0], -1, GROUP) - zeros[..., None]) * scales[..., None]
    return x @ w.view_as(q).t()


def right(x, packed, scales, zeros):
    out = 0
    per = GROUP // 2
    for g in range(scales.shape[1]):
        p = packed[:, g * per:(g + 1) * per].int()
        xe, xo = x[:, g * GROUP:(g + 1) * GROUP:2], x[:, g * GROUP + 1:(g + 1) * GROUP:2]
        acc = xe @ (p % 16).to(x.dtype).T + xo @ (p // 16).to(x.dtype).T
        total = x[:, g * GROUP:(g + 1) * GROUP].sum(-1, keepdim=True)
        out = out + scales[:, g] * (acc - zeros[:, g] * total)
    return out


def inputs():
    return (torch.randn(3, 16), torch.randint(0, 256, (5, 8), dtype=torch.uint8), torch.rand(5, 2) + 0.1,
            torch.randint(0, 16, (5, 2)).float())
