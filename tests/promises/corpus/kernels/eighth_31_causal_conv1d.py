# Depthwise causal convolution of width 4 with SiLU, channels last, as before a state-space layer.
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def conv_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, T, D, stride_b, stride_t, W: tl.constexpr, BT: tl.constexpr,
                BD: tl.constexpr):
    b = tl.program_id(2)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    in_d = d < D
    acc = tl.zeros([BT, BD], dtype=tl.float32)
    acc += tl.load(bias_ptr + d, mask=in_d, other=0.0)[None, :]
    for i in tl.static_range(W):
        src = t - (W - 1) + i
        ok = (src[:, None] >= 0) & (src[:, None] < T) & in_d[None, :]
        x = tl.load(x_ptr + b * stride_b + src[:, None] * stride_t + d[None, :], mask=ok, other=0.0)
        w = tl.load(w_ptr + d * W + i, mask=in_d, other=0.0)
        acc += x * w[None, :]
    y = acc * tl.sigmoid(acc)
    tl.store(y_ptr + b * stride_b + t[:, None] * stride_t + d[None, :], y, mask=(t[:, None] < T) & in_d[None, :])


def launch(B=2, T=20, D=24):
    x = torch.randn(B, T, D, device="cuda")
    weight = torch.randn(D, 4, device="cuda")
    bias = torch.randn(D, device="cuda")
    y = torch.empty_like(x)
    grid = (triton.cdiv(T, 16), triton.cdiv(D, 16), B)
    conv_kernel[grid](x, weight, bias, y, T, D, x.stride(0), x.stride(1), W=4, BT=16, BD=16)
    return y


def reference(x, weight, bias):
    xt = x.transpose(1, 2)
    y = F.conv1d(xt, weight.unsqueeze(1), bias, padding=3, groups=x.shape[2])
    return F.silu(y[..., :x.shape[1]].transpose(1, 2))


TRUTH = "verified"
