"""Depthwise causal convolution of width 4 with bias and SiLU, taps before the start of the sequence reading zero."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def causal_conv1d_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, channels, time, WIDTH: tl.constexpr, BC: tl.constexpr, BT: tl.constexpr,
):
    batch = tl.program_id(0)
    rc = tl.program_id(1) * BC + tl.arange(0, BC)
    rt = tl.program_id(2) * BT + tl.arange(0, BT)
    row = (batch * channels + rc) * time
    in_c = rc < channels
    acc = tl.zeros((BC, BT), tl.float32) + tl.load(b_ptr + rc, mask=in_c, other=0.0)[:, None]
    for tap in tl.static_range(WIDTH):
        t = rt - (WIDTH - 1) + tap
        mask = in_c[:, None] & (t >= 0)[None, :] & (t < time)[None, :]
        x = tl.load(x_ptr + row[:, None] + t[None, :], mask=mask, other=0.0)
        w = tl.load(w_ptr + rc * WIDTH + tap, mask=in_c, other=0.0)
        acc += x * w[:, None]
    y = acc * tl.sigmoid(acc)
    tl.store(out_ptr + row[:, None] + rt[None, :], y, mask=in_c[:, None] & (rt < time)[None, :])


def launch(batch=2, channels=11, time=50):
    x = torch.randn(batch, channels, time, device="cuda")
    weight = torch.randn(channels, 4, device="cuda")
    bias = torch.randn(channels, device="cuda")
    out = torch.empty_like(x)
    grid = (batch, triton.cdiv(channels, 8), triton.cdiv(time, 32))
    causal_conv1d_kernel[grid](x, weight, bias, out, channels, time, WIDTH=4, BC=8, BT=32)
    return out


def reference(x, weight, bias):
    padded = F.pad(x, (3, 0))
    time = x.shape[-1]
    y = bias[:, None] + sum(weight[:, tap, None] * padded[..., tap : tap + time] for tap in range(4))
    return F.silu(y)


TRUTH = "verified"
