"""The activation side of a BitLinear layer (flash-linear-attention's fused_bitlinear): RMS norm, then quantise each token
to 8 bits by its largest magnitude, and scale back. The residual is added first and kept."""
import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_fwd_quant_kernel(
    X, Y, W, RESIDUAL, RESIDUAL_OUT, Rstd,
    stride_x_row, stride_y_row, stride_res_row, stride_res_out_row,
    N, eps,
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    X += row * stride_x_row
    Y += row * stride_y_row
    RESIDUAL += row * stride_res_row
    RESIDUAL_OUT += row * stride_res_out_row
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    residual = tl.load(RESIDUAL + cols, mask=cols < N, other=0.0).to(tl.float32)
    x += residual
    tl.store(RESIDUAL_OUT + cols, x, mask=cols < N)
    xbar = tl.where(cols < N, x, 0.0)
    var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    w = tl.load(W + cols, mask=cols < N, other=0.0).to(tl.float32)
    y = x * rstd * w
    scale = 127.0 / tl.maximum(tl.max(tl.abs(y), 0), 1e-5)
    y = tl.floor(y * scale + 0.5)
    y = tl.maximum(tl.minimum(y, 127.0), -128.0) / scale
    tl.store(Y + cols, y, mask=cols < N)


def launch(tokens=7, hidden=90):
    x = torch.randn(tokens, hidden, device="cuda")
    residual = torch.randn(tokens, hidden, device="cuda")
    weight = torch.rand(hidden, device="cuda") + 0.5
    y = torch.empty_like(x)
    residual_out = torch.empty_like(x)
    rstd = torch.empty(tokens, dtype=torch.float32, device="cuda")
    MAX_FUSED_SIZE = 65536 // x.element_size()
    BLOCK_N = min(MAX_FUSED_SIZE, triton.next_power_of_2(hidden))
    if hidden > BLOCK_N:
        raise RuntimeError("This layer norm doesn't support feature dim >= 64KB.")
    layer_norm_fwd_quant_kernel[(tokens,)](
        x, y, weight, residual, residual_out, rstd,
        x.stride(0), y.stride(0), residual.stride(0), residual_out.stride(0),
        hidden, 1e-5, BLOCK_N=BLOCK_N,
    )
    return y, residual_out, rstd


def reference(x, residual, weight):
    h = x + residual
    rstd = torch.rsqrt(h.square().mean(-1) + 1e-5)
    y = h * rstd[:, None] * weight
    scale = 127.0 / y.abs().amax(-1, keepdim=True).clamp(min=1e-5)
    return torch.floor(y * scale + 0.5).clamp(-128, 127) / scale, h, rstd


TRUTH = "verified"
