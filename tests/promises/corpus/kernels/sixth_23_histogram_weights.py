import torch
import triton
import triton.language as tl


@triton.jit
def weighted_hist(bin_ptr, weight_ptr, hist_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    b = tl.load(bin_ptr + offs, mask=mask, other=0)
    w = tl.load(weight_ptr + offs, mask=mask, other=0.0)
    tl.atomic_add(hist_ptr + b, w, mask=mask)


def launch(n=200, bins=12):
    edges = torch.arange(bins)
    which = torch.randint(0, bins, (n,))
    weights = torch.rand(n)
    hist = torch.empty(bins)
    weighted_hist[(triton.cdiv(n, 64),)](which, weights, hist, n, BLOCK=64)
    return hist


def reference(edges, which, weights):
    hit = (which[None, :] == edges[:, None]).to(weights.dtype)
    return (hit * weights[None, :]).sum(1)


TRUTH = "broken"
