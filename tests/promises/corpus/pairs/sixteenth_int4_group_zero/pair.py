"""AWQ-like: rows 2k and 2k+1 share a byte, scale and zero per group of 4 rows and per column."""
import torch

GROUP = 4


def left(x, packed, scales, zeros):
    low, high = packed & 0x0F, packed >> 4
    q = torch.stack([low, high], dim=1).flatten(0, 1).to(x.dtype)
    s = scales.repeat_interleave(GROUP, dim=0)
    z = zeros.to(x.dtype).repeat_interleave(GROUP, dim=0)
    return x @ ((q - z) * s)


def right(x, packed, scales, zeros):
    out = 0
    half = GROUP // 2
    for g in range(scales.shape[0]):
        xg = x[..., g * GROUP:(g + 1) * GROUP]
        pg = packed[g * half:(g + 1) * half]
        low = torch.remainder(pg, 16).to(x.dtype)
        high = torch.div(pg, 16, rounding_mode="floor").to(x.dtype)
        part = xg[..., 0::2] @ low + xg[..., 1::2] @ high
        part = part - xg.sum(-1, keepdim=True) * zeros[g].to(x.dtype)
        out = out + part * scales[g]
    return out


def inputs():
    return (
        torch.randn(2, 3, 16),
        torch.randint(0, 256, (8, 5), dtype=torch.uint8),
        torch.rand(4, 5) * 0.1 + 0.01,
        torch.randint(0, 16, (4, 5), dtype=torch.uint8),
    )
