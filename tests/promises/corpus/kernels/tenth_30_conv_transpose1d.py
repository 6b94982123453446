"""A transposed convolution in one dimension (a vocoder's upsampler), gathered from the output's side."""
import torch
import triton
import triton.language as tl


@triton.jit
def conv_transpose1d_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr,
    C_in, C_out, T_in, T_out,
    stride_xb, stride_xc, stride_wi, stride_wo, stride_yb, stride_yc,
    KERNEL: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr, BLOCK_T: tl.constexpr,
):
    pid_t = tl.program_id(0)
    co = tl.program_id(1)
    b = tl.program_id(2)
    t = pid_t * BLOCK_T + tl.arange(0, BLOCK_T)
    acc = tl.zeros([BLOCK_T], dtype=tl.float32)
    for ci in range(C_in):
        for k in tl.static_range(KERNEL):
            pos = t + PADDING - k
            src = pos // STRIDE
            valid = (pos >= 0) & (pos % STRIDE == 0) & (src < T_in)
            x = tl.load(x_ptr + b * stride_xb + ci * stride_xc + src, mask=valid, other=0.0)
            w = tl.load(w_ptr + ci * stride_wi + co * stride_wo + k)
            acc += x * w
    acc += tl.load(bias_ptr + co)
    tl.store(y_ptr + b * stride_yb + co * stride_yc + t, acc, mask=t < T_out)


def launch(batch=2, c_in=5, c_out=3, t_in=21):
    x = torch.randn(batch, c_in, t_in, device="cuda")
    weight = torch.randn(c_in, c_out, 4, device="cuda")
    bias = torch.randn(c_out, device="cuda")
    t_out = (t_in - 1) * 2 - 2 * 1 + 4
    y = torch.empty(batch, c_out, t_out, device="cuda")
    grid = (triton.cdiv(t_out, 32), c_out, batch)
    conv_transpose1d_kernel[grid](
        x, weight, bias, y, c_in, c_out, t_in, t_out,
        x.stride(0), x.stride(1), weight.stride(0), weight.stride(1), y.stride(0), y.stride(1),
        KERNEL=4, STRIDE=2, PADDING=1, BLOCK_T=32,
    )
    return y


def reference(x, weight, bias):
    return torch.nn.functional.conv_transpose1d(x, weight, bias, stride=2, padding=1)


TRUTH = "verified"
