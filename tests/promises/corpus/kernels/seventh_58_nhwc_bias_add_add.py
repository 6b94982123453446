"""Residual of a channels-last UNet block: (activation + bias) + (other + other_bias), biases one number a channel."""
import torch
import triton
import triton.language as tl


@triton.jit
def nhwc_bias_add_bias_add_kernel(
    out_ptr, act_ptr, bias_ptr, other_ptr, other_bias_ptr, numel, channels, BLOCK: tl.constexpr
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    c = offs // channels
    act = tl.load(act_ptr + offs, mask=mask)
    other = tl.load(other_ptr + offs, mask=mask)
    b1 = tl.load(bias_ptr + c, mask=mask)
    b2 = tl.load(other_bias_ptr + c, mask=mask)
    tl.store(out_ptr + offs, (act + b1) + (other + b2), mask=mask)


def launch(n=2, h=5, w=6, c=12):
    act = torch.randn(n, h, w, c, device="cuda")
    other = torch.randn(n, h, w, c, device="cuda")
    bias = torch.randn(c, device="cuda")
    other_bias = torch.randn(c, device="cuda")
    out = torch.empty_like(act)
    numel = act.numel()
    nhwc_bias_add_bias_add_kernel[(triton.cdiv(numel, 256),)](
        out, act, bias, other, other_bias, numel, c, BLOCK=256
    )
    return out


def reference(act, bias, other, other_bias):
    return act + bias + other + other_bias


# offs // channels is the pixel, the channel is offs % channels: wrong, and out of bounds
TRUTH = "broken"
