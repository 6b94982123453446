"""Quantisation: silu(gate) * up, then symmetric int8 per token and group of 32, scales written beside (SGLang's silu_and_mul_quant)."""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_mul_quant_kernel(
    x_ptr, q_ptr, s_ptr,
    stride_x, stride_q, stride_s,
    inter, eps,
    GROUP: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    g = tl.program_id(1)
    cols = g * GROUP + tl.arange(0, GROUP)
    gate = tl.load(x_ptr + row * stride_x + cols).to(tl.float32)
    up = tl.load(x_ptr + row * stride_x + inter + cols).to(tl.float32)
    y = gate / (1.0 + tl.exp(-gate)) * up
    absmax = tl.maximum(tl.max(tl.abs(y), axis=0), eps)
    scale = absmax / 127.0
    q = y / scale
    q = tl.where(q >= 0, tl.floor(q + 0.5), tl.ceil(q - 0.5))
    q = tl.clamp(q, -128.0, 127.0)
    tl.store(q_ptr + row * stride_q + cols, q.to(tl.int8))
    tl.store(s_ptr + row * stride_s + g, scale)


def launch(tokens=5, groups=3):
    group = 32
    inter = groups * group
    x = torch.randn(tokens, 2 * inter, device="cuda")
    q = torch.empty(tokens, inter, device="cuda", dtype=torch.int8)
    s = torch.empty(tokens, groups, device="cuda")
    silu_mul_quant_kernel[(tokens, groups)](
        x, q, s, x.stride(0), q.stride(0), s.stride(0), inter, 1e-10, GROUP=group, num_warps=1
    )
    return q, s


def reference(x):
    gate, up = x.chunk(2, dim=-1)
    y = (torch.nn.functional.silu(gate) * up).unflatten(-1, (-1, 32))
    scale = y.abs().amax(-1).clamp(min=1e-10) / 127.0
    q = y / scale[..., None]
    q = torch.where(q >= 0, torch.floor(q + 0.5), torch.ceil(q - 0.5)).clamp(-128, 127)
    return q.flatten(-2).to(torch.int8), scale

TRUTH = "verified"
