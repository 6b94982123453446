"""Mamba's depthwise causal convolution of width 4 with an initial state, bias and SiLU; also writes the final state for decoding."""
import torch
import triton
import triton.language as tl


@triton.jit
def _causal_conv1d_fwd_kernel(
    x_ptr, w_ptr, bias_ptr, state_ptr, out_ptr, final_ptr,
    D, T,
    stride_xb, stride_xd, stride_xt,
    stride_sb, stride_sd,
    WIDTH: tl.constexpr, SILU: tl.constexpr,
    BLOCK_D: tl.constexpr, BLOCK_T: tl.constexpr,
):
    i_t, i_d, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    d = i_d * BLOCK_D + tl.arange(0, BLOCK_D)
    t = i_t * BLOCK_T + tl.arange(0, BLOCK_T)
    d_mask = d < D
    acc = tl.zeros((BLOCK_D, BLOCK_T), dtype=tl.float32)
    acc += tl.load(bias_ptr + d, mask=d_mask, other=0.0)[:, None]
    base = x_ptr + b * stride_xb + d[:, None] * stride_xd
    sbase = state_ptr + b * stride_sb + d[:, None] * stride_sd
    for j in tl.static_range(WIDTH):
        src = t - (WIDTH - 1) + j
        w = tl.load(w_ptr + d * WIDTH + j, mask=d_mask, other=0.0)
        x = tl.load(base + src[None, :] * stride_xt,
                    mask=d_mask[:, None] & (src >= 0)[None, :] & (src < T)[None, :], other=0.0)
        s = tl.load(sbase + (src + WIDTH - 1)[None, :],
                    mask=d_mask[:, None] & (src < 0)[None, :], other=0.0)
        acc += w[:, None] * (x + s)
    if SILU:
        acc = acc * tl.sigmoid(acc)
    tl.store(out_ptr + b * stride_xb + d[:, None] * stride_xd + t[None, :] * stride_xt, acc,
             mask=d_mask[:, None] & (t < T)[None, :])
    if i_t == 0:
        for j in tl.static_range(WIDTH - 1):
            last = tl.load(x_ptr + b * stride_xb + d * stride_xd + (T - (WIDTH - 1) + j) * stride_xt,
                           mask=d_mask, other=0.0)
            tl.store(final_ptr + b * stride_sb + d * stride_sd + j, last, mask=d_mask)


def launch(B=2, D=20, T=45):
    assert T >= 3
    x = torch.randn(B, D, T, device="cuda")
    weight = torch.randn(D, 4, device="cuda")
    bias = torch.randn(D, device="cuda")
    state = torch.randn(B, D, 3, device="cuda")
    out = torch.empty_like(x)
    final = torch.empty_like(state)
    grid = (triton.cdiv(T, 32), triton.cdiv(D, 16), B)
    _causal_conv1d_fwd_kernel[grid](
        x, weight, bias, state, out, final, D, T,
        *x.stride(), state.stride(0), state.stride(1),
        WIDTH=4, SILU=True, BLOCK_D=16, BLOCK_T=32,
    )
    return out, final


def reference(x, weight, bias, state):
    full = torch.cat([state, x], dim=-1)
    y = torch.nn.functional.conv1d(full, weight[:, None, :], bias, groups=x.shape[1])
    return torch.nn.functional.silu(y), full[..., -3:]

TRUTH = "verified"
