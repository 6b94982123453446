# One level of the orthonormal Haar transform of each row: averages first, then details.
import torch
import triton
import triton.language as tl


@triton.jit
def haar_kernel(x_ptr, out_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = k < half
    a = tl.load(x_ptr + row * 2 * half + 2 * k, mask=mask, other=0.0)
    b = tl.load(x_ptr + row * 2 * half + 2 * k + 1, mask=mask, other=0.0)
    s = 0.7071067811865476
    tl.store(out_ptr + row * 2 * half + k, (a + b) * s, mask=mask)
    tl.store(out_ptr + row * 2 * half + half + k, (a - b) * s, mask=mask)


def launch(R=4, half=50):
    x = torch.randn(R, 2 * half, device="cuda")
    out = torch.empty_like(x)
    haar_kernel[(triton.cdiv(half, 32), R)](x, out, half, BLOCK=32)
    return out


def reference(x):
    even, odd = x[:, 0::2], x[:, 1::2]
    return torch.cat([even + odd, even - odd], dim=1) * 0.7071067811865476


TRUTH = "verified"
