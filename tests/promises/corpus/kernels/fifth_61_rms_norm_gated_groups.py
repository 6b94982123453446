"""Mamba-like gated RMS norm: the gate multiplies first, each group of channels is normalised alone, row strides are passed."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.heuristics({"HAS_Z": lambda args: args["Z"] is not None, "HAS_BIAS": lambda args: args["B"] is not None})
@triton.jit
def _layer_norm_gated_fwd(X, Y, W, B, Z, Rstd, stride_x_row, stride_y_row, stride_z_row, M, N, eps,
                          BLOCK_N: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_Z: tl.constexpr):
    row = tl.program_id(0)
    group = tl.program_id(1)
    X += row * stride_x_row + group * N
    Y += row * stride_y_row + group * N
    Z += row * stride_z_row + group * N
    Rstd += group * M
    W += group * N
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    if HAS_Z:
        z = tl.load(Z + cols, mask=cols < N, other=0.0).to(tl.float32)
        x *= z * tl.sigmoid(z)
    xbar = tl.where(cols < N, x, 0.0)
    var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    w = tl.load(W + cols, mask=cols < N).to(tl.float32)
    y = x * rstd * w
    if HAS_BIAS:
        y += tl.load(B + group * N + cols, mask=cols < N).to(tl.float32)
    tl.store(Y + cols, y, mask=cols < N)


def launch():
    ngroups = 3
    x = torch.randn(11, 360)
    z = torch.randn(11, 360)
    weight = torch.randn(360)
    M, width = x.shape
    group_size = width // ngroups
    out = torch.empty_like(x)
    rstd = torch.empty(ngroups * M)
    _layer_norm_gated_fwd[(M, ngroups)](x, out, weight, None, z, rstd, x.stride(0), out.stride(0), z.stride(0), M,
                                        group_size, 1e-5, BLOCK_N=triton.next_power_of_2(group_size))
    return out


def reference(x, z, weight):
    h = (x * F.silu(z)).unflatten(-1, (3, -1))
    h = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-5)
    return h.flatten(-2) * weight
