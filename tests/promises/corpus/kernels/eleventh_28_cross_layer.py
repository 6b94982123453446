import torch
import torch.nn.functional as F
import triton
import triton.language as tl


# DCN-v2 cross layer: out = x0 * (x W^T + b) + x
@triton.jit
def cross_layer_kernel(x0_ptr, x_ptr, w_ptr, b_ptr, out_ptr, M, N, stride_xm, stride_wn,
                       BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + rm[:, None] * stride_xm + rk[None, :]
    w_ptrs = w_ptr + rn[None, :] * stride_wn + rk[:, None]
    x_mask = (rm < M)[:, None] & (rk < N)[None, :]
    w_mask = (rn < N)[None, :] & (rk < N)[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, tl.cdiv(N, BLOCK_K)):
        acc += tl.dot(tl.load(x_ptrs, mask=x_mask, other=0.0), tl.load(w_ptrs, mask=w_mask, other=0.0))
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    offs = rm[:, None] * stride_xm + rn[None, :]
    bias = tl.load(b_ptr + rn, mask=rn < N, other=0.0)
    x0 = tl.load(x0_ptr + offs, mask=mask, other=0.0)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x0 * (acc + bias[None, :]) + x, mask=mask)


def launch(batch=40, width=72):
    x0 = torch.randn(batch, width, device="cuda")
    x = torch.randn(batch, width, device="cuda")
    weight = torch.randn(width, width, device="cuda")
    bias = torch.randn(width, device="cuda")
    out = torch.empty_like(x)
    grid = (triton.cdiv(batch, 32), triton.cdiv(width, 32))
    cross_layer_kernel[grid](x0, x, weight, bias, out, batch, width, x.stride(0), weight.stride(0),
                             BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    return out


def reference(x0, x, weight, bias):
    return x0 * F.linear(x, weight, bias) + x


TRUTH = "broken"
