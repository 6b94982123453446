"""Layer norm whose mean and variance come from Welford's running update."""

import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the shift of the mean is not weighted by what was seen before"


@triton.jit
def welford_kernel(x_ptr, y_ptr, w_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = 0.0
    m2 = 0.0
    count = 0
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        keep = i < N
        x = tl.load(x_ptr + row * N + i, mask=keep, other=0.0)
        n = tl.minimum(BLOCK, N - start)
        m = tl.sum(x, axis=0) / n
        d = tl.where(keep, x - m, 0.0)
        s = tl.sum(d * d, axis=0)
        delta = m - mean
        total = count + n
        mean = mean + delta * n / total
        m2 = m2 + s + delta * delta * n / total
        count = total
    rstd = tl.rsqrt(m2 / N + eps)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        keep = i < N
        x = tl.load(x_ptr + row * N + i, mask=keep, other=0.0)
        w = tl.load(w_ptr + i, mask=keep, other=0.0)
        tl.store(y_ptr + row * N + i, (x - mean) * rstd * w, mask=keep)


def launch(M=5, N=90, eps=1e-6):
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    y = torch.empty_like(x)
    welford_kernel[(M,)](x, y, weight, N, eps, BLOCK=32)
    return y


def reference(x, weight, eps=1e-6):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, None, eps)
