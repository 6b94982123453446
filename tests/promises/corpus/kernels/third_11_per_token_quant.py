"""Dynamic int8 quantisation, one scale for each token, as before a W8A8 matmul."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _per_token_quant_int8(x_ptr, xq_ptr, scale_ptr, stride_x, stride_xq, N, BLOCK: tl.constexpr):
    row_id = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row_id * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(x)), 1e-10)
    scale_x = absmax / 127
    x_q = tl.floor(x / scale_x + 0.5).to(tl.int8)
    tl.store(xq_ptr + row_id * stride_xq + cols, x_q, mask=mask)
    tl.store(scale_ptr + row_id, scale_x)


def launch(x):
    M, N = x.shape
    x_q = torch.empty((M, N), device=x.device, dtype=torch.int8)
    scales = torch.empty((M, 1), device=x.device, dtype=torch.float32)
    _per_token_quant_int8[(M,)](x, x_q, scales, x.stride(0), x_q.stride(0), N, BLOCK=triton.next_power_of_2(N))
    return x_q, scales


def reference(x):
    scales = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-10) / 127
    x_q = torch.floor(x / scales + 0.5).to(torch.int8)
    return x_q, scales


def inputs(M=6, N=90):
    return (torch.randn(M, N),)
