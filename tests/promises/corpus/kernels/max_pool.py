"""Max pooling of 1-D rows with window 3, stride 2 and padding 1."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def pool_kernel(x_ptr, y_ptr, L, OUT, WINDOW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for w in tl.static_range(WINDOW):
        i = o * STRIDE - PAD + w
        x = tl.load(x_ptr + row * L + i, mask=(i >= 0) & (i < L) & (o < OUT), other=float("-inf"))
        best = tl.maximum(best, x)
    tl.store(y_ptr + row * OUT + o, best, mask=o < OUT)


def launch(R=4, L=45):
    x = torch.randn(R, L, device="cuda")
    OUT = (L + 2 * 1 - 3) // 2 + 1
    y = torch.empty(R, OUT, device="cuda")
    pool_kernel[(R, triton.cdiv(OUT, 16))](x, y, L, OUT, WINDOW=3, STRIDE=2, PAD=1, BLOCK=16)
    return y


def reference(x):
    return torch.nn.functional.max_pool1d(x[None], 3, stride=2, padding=1)[0]
