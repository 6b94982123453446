import torch
import triton
import triton.language as tl


@triton.jit
def quant_kernel(x_ptr, q_ptr, s_ptr, N, stride_x, stride_q, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    amax = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-10)
    scale = amax / 127.0
    q = tl.floor(x / scale + 0.5)
    q = tl.minimum(tl.maximum(q, -127.0), 127.0)
    tl.store(q_ptr + row * stride_q + cols, q.to(tl.int8), mask=mask)
    tl.store(s_ptr + row, scale)


def launch(M=6, N=90):
    x = torch.randn(M, N, device="cuda")
    q = torch.empty(M, N, dtype=torch.int8, device="cuda")
    scales = torch.empty(M, device="cuda")
    quant_kernel[(M,)](x, q, scales, N, x.stride(0), q.stride(0), BLOCK=triton.next_power_of_2(N))
    return q, scales


def reference(x):
    scale = x.abs().amax(dim=-1).clamp(min=1e-10) / 127.0
    q = torch.floor(x / scale[:, None] + 0.5).clamp(-127, 127)
    return q.to(torch.int8), scale


TRUTH = "verified"
