# One decoding step of the causal convolution: the window of the last three inputs moves on by one.
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def conv_update_kernel(x_ptr, state_ptr, w_ptr, bias_ptr, out_ptr, D, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    state = state_ptr + (b * D + d) * 3
    s0 = tl.load(state, mask=mask, other=0.0)
    s1 = tl.load(state + 1, mask=mask, other=0.0)
    s2 = tl.load(state + 2, mask=mask, other=0.0)
    x = tl.load(x_ptr + b * D + d, mask=mask, other=0.0)
    w = w_ptr + d * 4
    acc = tl.load(bias_ptr + d, mask=mask, other=0.0)
    acc += s0 * tl.load(w, mask=mask, other=0.0)
    acc += s1 * tl.load(w + 1, mask=mask, other=0.0)
    acc += s2 * tl.load(w + 2, mask=mask, other=0.0)
    acc += x * tl.load(w + 3, mask=mask, other=0.0)
    tl.store(out_ptr + b * D + d, acc / (1.0 + tl.exp(-acc)), mask=mask)
    tl.store(state, s1, mask=mask)
    tl.store(state + 1, s2, mask=mask)
    tl.store(state + 2, x, mask=mask)


def launch(B=3, D=40):
    x = torch.randn(B, D, device="cuda")
    state = torch.randn(B, D, 3, device="cuda")
    weight = torch.randn(D, 4, device="cuda")
    bias = torch.randn(D, device="cuda")
    out = torch.empty_like(x)
    conv_update_kernel[(B, triton.cdiv(D, 32))](x, state, weight, bias, out, D, BLOCK=32)
    return out, state


def reference(x, state, weight, bias):
    window = torch.cat([state, x.unsqueeze(-1)], dim=-1)
    out = F.silu((window * weight).sum(-1) + bias)
    return out, window[..., 1:]


TRUTH = "verified"
