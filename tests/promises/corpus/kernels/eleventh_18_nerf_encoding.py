import torch
import triton
import triton.language as tl


# NeRF's positional encoding: [x, sin(2^0 x), cos(2^0 x), ..., sin(2^(L-1) x), cos(2^(L-1) x)] for 3-d points
@triton.jit
def nerf_encode_kernel(pts_ptr, out_ptr, n, D: tl.constexpr, L: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = p < n
    width: tl.constexpr = D * (2 * L + 1)
    for d in tl.static_range(D):
        x = tl.load(pts_ptr + p * D + d, mask=mask, other=0.0)
        tl.store(out_ptr + p * width + d, x, mask=mask)
        for k in tl.static_range(L):
            a = x * (2 ** k)
            tl.store(out_ptr + p * width + D + 2 * k * D + d, tl.sin(a), mask=mask)
            tl.store(out_ptr + p * width + D + (2 * k + 1) * D + d, tl.cos(a), mask=mask)


def launch(n=200):
    pts = torch.randn(n, 3, device="cuda")
    out = torch.empty(n, 27, device="cuda")
    nerf_encode_kernel[(triton.cdiv(n, 64),)](pts, out, n, D=3, L=4, BLOCK=64)
    return out


def reference(pts):
    parts = [pts]
    for k in range(4):
        parts += [torch.sin(pts * 2.0 ** k), torch.cos(pts * 2.0 ** k)]
    return torch.cat(parts, dim=-1)


TRUTH = "verified"
