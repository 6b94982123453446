"""siluq8, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _silu_mul_group_quant_int8(
    x_ptr,
    q_ptr,
    s_ptr,
    stride_x,
    stride_q,
    stride_s,
    n_inter,
    eps,
    GROUP: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    g = tl.program_id(1)
    cols = g * GROUP + tl.arange(0, GROUP)
    gate = tl.load(x_ptr + row * stride_x + cols).to(tl.float32)
    up = tl.load(x_ptr + row * stride_x + n_inter + cols).to(tl.float32)
    y = gate / (1.0 + tl.exp(-gate)) * up

    absmax = tl.maximum(tl.max(tl.abs(y), axis=0), eps)
    scale = absmax / 127.0
    q = tl.floor(y / scale + 0.5)
    q = tl.minimum(tl.maximum(q, -128.0), 127.0)

    tl.store(q_ptr + row * stride_q + cols, q.to(tl.int8))
    tl.store(s_ptr + row * stride_s + g, scale)


def silu_and_mul_quant(x, group_size=64):
    tokens, two_n = x.shape
    n = two_n // 2
    assert n % group_size == 0
    q = torch.empty((tokens, n), dtype=torch.int8, device=x.device)
    s = torch.empty((tokens, n // group_size), dtype=torch.float32, device=x.device)
    _silu_mul_group_quant_int8[(tokens, n // group_size)](
        x, q, s, x.stride(0), q.stride(0), s.stride(0), n, 1e-10, GROUP=group_size, num_warps=1
    )
    return q, s


def launch(tokens=5, groups=3):
    x = torch.randn(tokens, 2 * 64 * groups, device="cuda")
    return silu_and_mul_quant(x)


def reference(x):
    gate, up = x.chunk(2, dim=-1)
    y = torch.nn.functional.silu(gate) * up
    y = y.unflatten(-1, (-1, 64))
    s = y.abs().amax(-1).clamp(min=1e-10) / 127.0
    q = torch.floor(y / s.unsqueeze(-1) + 0.5).clamp(-128, 127).to(torch.int8)
    return q.flatten(1), s


TRUTH = "verified"
