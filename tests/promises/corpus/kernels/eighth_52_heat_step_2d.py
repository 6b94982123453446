# One explicit step of the heat equation; the border keeps its values.
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def heat_kernel(u_ptr, out_ptr, H, W, alpha, BH: tl.constexpr, BW: tl.constexpr):
    i = tl.program_id(0) * BH + tl.arange(0, BH)[:, None]
    j = tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    inside = (i < H) & (j < W)
    inner = (i > 0) & (i < H - 1) & (j > 0) & (j < W - 1)
    p = u_ptr + i * W + j
    c = tl.load(p, mask=inside, other=0.0)
    north = tl.load(p - W, mask=inner, other=0.0)
    south = tl.load(p + W, mask=inner, other=0.0)
    west = tl.load(p - 1, mask=inner, other=0.0)
    east = tl.load(p + 1, mask=inner, other=0.0)
    new = c + alpha * (north + south + west + east - 4.0 * c)
    tl.store(out_ptr + i * W + j, tl.where(inner, new, c), mask=inside)


def launch(H=20, W=30):
    u = torch.randn(H, W, device="cuda")
    out = torch.empty_like(u)
    heat_kernel[(triton.cdiv(H, 8), triton.cdiv(W, 16))](u, out, H, W, 0.1, BH=8, BW=16)
    return out


def reference(u):
    H, W = u.shape
    lap = F.pad(u, (1, 1, 1, 1))
    lap = lap[:-2, 1:-1] + lap[2:, 1:-1] + lap[1:-1, :-2] + lap[1:-1, 2:] - 4 * u
    i = torch.arange(H, device=u.device)[:, None]
    j = torch.arange(W, device=u.device)[None, :]
    inner = (i > 0) & (i < H - 1) & (j > 0) & (j < W - 1)
    return torch.where(inner, u + 0.1 * lap, u)


TRUTH = "verified"
