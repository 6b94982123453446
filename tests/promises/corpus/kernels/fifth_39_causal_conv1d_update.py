"""One decoded token of a causal depthwise convolution of width 4, with the state of each request shifted in its slot."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _causal_conv1d_update_kernel(
    x_ptr,
    conv_state_ptr,
    w_ptr,
    bias_ptr,
    conv_state_indices_ptr,
    o_ptr,
    dim,
    stride_x_seq,
    stride_state_seq,
    stride_state_dim,
    stride_w_dim,
    stride_o_seq,
    HAS_BIAS: tl.constexpr,
    SILU_ACTIVATION: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    idx_seq = tl.program_id(0)
    idx_feats = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = idx_feats < dim
    slot = tl.load(conv_state_indices_ptr + idx_seq).to(tl.int64)

    state = conv_state_ptr + slot * stride_state_seq + idx_feats * stride_state_dim
    col0 = tl.load(state + 0, mask=mask, other=0.0)
    col1 = tl.load(state + 1, mask=mask, other=0.0)
    col2 = tl.load(state + 2, mask=mask, other=0.0)
    x = tl.load(x_ptr + idx_seq * stride_x_seq + idx_feats, mask=mask, other=0.0)

    w_base = w_ptr + idx_feats * stride_w_dim
    w0 = tl.load(w_base + 0, mask=mask, other=0.0)
    w1 = tl.load(w_base + 1, mask=mask, other=0.0)
    w2 = tl.load(w_base + 2, mask=mask, other=0.0)
    w3 = tl.load(w_base + 3, mask=mask, other=0.0)

    if HAS_BIAS:
        acc = tl.load(bias_ptr + idx_feats, mask=mask, other=0.0).to(tl.float32)
    else:
        acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    acc += col0 * w0
    acc += col1 * w1
    acc += col2 * w2
    acc += x * w3
    if SILU_ACTIVATION:
        acc = acc / (1 + tl.exp(-acc))

    tl.store(state + 0, col1, mask=mask)
    tl.store(state + 1, col2, mask=mask)
    tl.store(state + 2, x, mask=mask)
    tl.store(o_ptr + idx_seq * stride_o_seq + idx_feats, acc, mask=mask)


def launch():
    batch, dim, slots = 4, 200, 10
    x = torch.randn(batch, dim)
    conv_state = torch.randn(slots, dim, 3)
    weight = torch.randn(dim, 4)
    bias = torch.randn(dim)
    indices = torch.argsort(torch.rand(slots))[:batch]
    out = torch.empty_like(x)
    grid = lambda META: (batch, triton.cdiv(dim, META["BLOCK_N"]))
    _causal_conv1d_update_kernel[grid](
        x,
        conv_state,
        weight,
        bias,
        indices,
        out,
        dim,
        x.stride(0),
        conv_state.stride(0),
        conv_state.stride(1),
        weight.stride(0),
        out.stride(0),
        HAS_BIAS=True,
        SILU_ACTIVATION=True,
        BLOCK_N=128,
    )
    return conv_state, out


def reference(x, conv_state, weight, bias, indices):
    window = torch.cat([conv_state[indices], x[:, :, None]], -1)
    y = torch.nn.functional.silu((window * weight).sum(-1) + bias)
    state = conv_state.clone()
    state[indices] = window[:, :, 1:]
    return state, y
