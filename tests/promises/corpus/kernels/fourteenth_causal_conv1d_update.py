"""Mamba's depthwise causal convolution for one decoded token: the state of width 3 lies in cache lines chosen by index and is shifted in place."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def conv1d_update_kernel(
    x_ptr, state_ptr, w_ptr, b_ptr, idx_ptr, o_ptr, dim, s_line, s_dim, BLOCK: tl.constexpr
):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < dim
    line = tl.load(idx_ptr + b)
    state = state_ptr + line * s_line + d * s_dim
    s0 = tl.load(state, mask=mask, other=0.0)
    s1 = tl.load(state + 1, mask=mask, other=0.0)
    s2 = tl.load(state + 2, mask=mask, other=0.0)
    x = tl.load(x_ptr + b * dim + d, mask=mask, other=0.0)
    acc = tl.load(b_ptr + d, mask=mask, other=0.0)
    acc += s0 * tl.load(w_ptr + d * 4, mask=mask, other=0.0)
    acc += s1 * tl.load(w_ptr + d * 4 + 1, mask=mask, other=0.0)
    acc += s2 * tl.load(w_ptr + d * 4 + 2, mask=mask, other=0.0)
    acc += x * tl.load(w_ptr + d * 4 + 3, mask=mask, other=0.0)
    tl.store(state, s1, mask=mask)
    tl.store(state + 1, s2, mask=mask)
    tl.store(state + 2, x, mask=mask)
    tl.store(o_ptr + b * dim + d, acc * tl.sigmoid(acc), mask=mask)


def launch(batch=3, dim=50, lines=9):
    x = torch.randn(batch, dim)
    conv_state = torch.randn(lines, dim, 3)
    weight = torch.randn(dim, 4)
    bias = torch.randn(dim)
    indices = torch.randperm(lines)[:batch]
    out = torch.empty_like(x)
    conv1d_update_kernel[(batch, triton.cdiv(dim, 32))](
        x, conv_state, weight, bias, indices, out, dim, conv_state.stride(0), conv_state.stride(1), BLOCK=32
    )
    return out, conv_state


launch.assume = ["batch <= lines"]


def reference(x, conv_state, weight, bias, indices):
    window = torch.cat([conv_state[indices], x[:, :, None]], dim=-1)
    out = F.silu((window * weight).sum(-1) + bias)
    new_state = conv_state.index_copy(0, indices, window[:, :, 1:])
    return out, new_state
TRUTH = "verified"
