"""PolyNorm forward: the normed cube, square and first power of a row, weighted and shifted."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def poly_norm_kernel(Y, y_row, X, x_row, W, B, RSTD, n_cols, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    x = tl.load(X + row * x_row + offs, mask=mask, other=0.0).to(tl.float32)
    w0 = tl.load(W)
    w1 = tl.load(W + 1)
    w2 = tl.load(W + 2)
    b = tl.load(B)
    x2 = x * x
    x3 = x2 * x
    r3 = tl.rsqrt(tl.sum(x3 * x3, axis=0) / n_cols + eps)
    r2 = tl.rsqrt(tl.sum(x2 * x2, axis=0) / n_cols + eps)
    r1 = tl.rsqrt(tl.sum(x2, axis=0) / n_cols + eps)
    tl.store(RSTD + row * 3, r3)
    tl.store(RSTD + row * 3 + 1, r2)
    tl.store(RSTD + row * 3 + 2, r1)
    y = w0 * x3 * r3 + w1 * x2 * r2 + w2 * x * r1 + b
    tl.store(Y + row * y_row + offs, y, mask=mask)


def launch():
    rows, cols = 19, 320
    x = torch.randn(rows, cols)
    weight = torch.tensor([0.2, 0.3, 0.5])
    bias = torch.tensor([0.1])
    y = torch.empty_like(x)
    rstd = torch.empty(rows, 3)
    poly_norm_kernel[(rows,)](y, y.stride(0), x, x.stride(0), weight, bias, rstd, cols, 1e-6, BLOCK_SIZE=triton.next_power_of_2(cols))
    return y, rstd


def reference(x, weight, bias):
    def r(z):
        return torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + 1e-6)

    r3, r2, r1 = r(x**3), r(x**2), r(x)
    y = weight[0] * x**3 * r3 + weight[1] * x**2 * r2 + weight[2] * x * r1 + bias
    return y, torch.cat([r3, r2, r1], dim=-1)
