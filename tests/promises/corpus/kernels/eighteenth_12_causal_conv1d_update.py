"""Mamba decoding step: depthwise causal convolution of width 4 from a rolling state, which is found by a slot index and shifted in place."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def conv1d_update_kernel(
    x_ptr, state_ptr, weight_ptr, bias_ptr, slot_ptr, out_ptr,
    dim,
    stride_xb, stride_xd, stride_ss, stride_sd, stride_sw, stride_wd, stride_ww, stride_ob, stride_od,
    BLOCK: tl.constexpr,
):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < dim
    slot = tl.load(slot_ptr + b).to(tl.int64)

    state = state_ptr + slot * stride_ss + d * stride_sd
    s0 = tl.load(state, mask=mask, other=0.0)
    s1 = tl.load(state + stride_sw, mask=mask, other=0.0)
    s2 = tl.load(state + 2 * stride_sw, mask=mask, other=0.0)
    x = tl.load(x_ptr + b * stride_xb + d * stride_xd, mask=mask, other=0.0)

    w = weight_ptr + d * stride_wd
    acc = tl.load(bias_ptr + d, mask=mask, other=0.0)
    acc += s0 * tl.load(w, mask=mask, other=0.0)
    acc += s1 * tl.load(w + stride_ww, mask=mask, other=0.0)
    acc += s2 * tl.load(w + 2 * stride_ww, mask=mask, other=0.0)
    acc += x * tl.load(w + 3 * stride_ww, mask=mask, other=0.0)

    tl.store(state, s1, mask=mask)
    tl.store(state + stride_sw, s2, mask=mask)
    tl.store(state + 2 * stride_sw, x, mask=mask)
    tl.store(out_ptr + b * stride_ob + d * stride_od, acc / (1.0 + tl.exp(-acc)), mask=mask)


def launch(batch=3, dim=50, slots=8):
    x = torch.randn(batch, dim, device="cuda")
    conv_state = torch.randn(slots, dim, 3, device="cuda")
    weight = torch.randn(dim, 4, device="cuda")
    bias = torch.randn(dim, device="cuda")
    slot_ids = torch.randperm(slots, device="cuda")[:batch]
    out = torch.empty_like(x)
    grid = lambda meta: (batch, triton.cdiv(dim, meta["BLOCK"]))
    conv1d_update_kernel[grid](
        x, conv_state, weight, bias, slot_ids, out,
        dim,
        x.stride(0), x.stride(1),
        conv_state.stride(0), conv_state.stride(1), conv_state.stride(2),
        weight.stride(0), weight.stride(1),
        out.stride(0), out.stride(1),
        BLOCK=32,
    )
    return out, conv_state


def reference(x, conv_state, weight, bias, slot_ids):
    window = torch.cat([conv_state[slot_ids], x[:, :, None]], dim=-1)
    out = F.silu((window * weight).sum(dim=-1) + bias)
    new_state = conv_state.clone()
    new_state[slot_ids] = window[:, :, 1:]
    return out, new_state

TRUTH = "verified"
